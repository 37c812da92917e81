// The limit of any design that sends event by event: a minimal epoll server that writes one ready-made frame with one
// send() to each consumer.
//
//     bare-sender RATE PADDING      RATE events a second, 0 for as fast as it goes; PADDING bytes in each event
//
// Prints "listening: PORT". Every request is answered with an endless text/event-stream.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { most = 70000 };

static int consumers[most];
static int count;
static char padding[65536];

static uint64_t now(void) {
    struct timespec reading;
    clock_gettime(CLOCK_MONOTONIC, &reading);
    return (uint64_t)reading.tv_sec * 1000000000u + (uint64_t)reading.tv_nsec;
}

static void drop(int index) {
    close(consumers[index]);
    consumers[index] = consumers[--count];
}

static void publish(uint64_t sequence) {
    static char event[70000], frame[70100];
    int length = snprintf(event, sizeof event,
        "event: update\nid: bare-%llu\ndata: {\"client\":\"c1\",\"subscription\":\"s1\",\"item\":\"item1\",\"itemPos\":1,"
        "\"snapshot\":false,\"fields\":{\"at\":\"%llu\",\"pad\":\"%s\"}}\n\n",
        (unsigned long long)sequence, (unsigned long long)now(), padding);
    int size = snprintf(frame, sizeof frame, "%x\r\n%s\r\n", length, event);
    for (int index = count - 1; index >= 0; index--) {
        ssize_t sent = send(consumers[index], frame, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
        // A consumer that is full misses this event; one that took half of a frame cannot be continued with another.
        if (sent < 0 ? errno != EAGAIN : sent != size) drop(index);
    }
}

static void greet(int listener) {
    static const char head[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    int descriptor;
    while ((descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (count == most) { close(descriptor); continue; }
        // The request is short and comes at once; what it asks does not matter.
        if (send(descriptor, head, sizeof head - 1, MSG_NOSIGNAL) < 0) { close(descriptor); continue; }
        consumers[count++] = descriptor;
    }
}

int main(int argc, char **argv) {
    double rate = argc > 1 ? atof(argv[1]) : 20;
    int pad = argc > 2 ? atoi(argv[2]) : 20;
    if (pad < 0 || pad >= (int)sizeof padding) return 2;
    memset(padding, 'x', (size_t)pad);
    signal(SIGPIPE, SIG_IGN);
    struct rlimit files = {most, most};
    setrlimit(RLIMIT_NOFILE, &files);

    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1, buffer = 64 * 1024;
    setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("listening: %d\n", ntohs(address.sin_port));
    fflush(stdout);

    int poll = epoll_create1(0);
    struct epoll_event interest = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &interest);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (rate > 0) {
        uint64_t pause = (uint64_t)(1e9 / rate);
        struct timespec step = {(time_t)(pause / 1000000000u), (long)(pause % 1000000000u)};
        struct itimerspec period = {step, step};
        timerfd_settime(timer, 0, &period, NULL);
        interest = (struct epoll_event){.events = EPOLLIN, .data.fd = timer};
        epoll_ctl(poll, EPOLL_CTL_ADD, timer, &interest);
    }
    for (uint64_t sequence = 1;;) {
        struct epoll_event ready[8];
        int found = epoll_wait(poll, ready, 8, rate > 0 ? -1 : 0);
        for (int index = 0; index < found; index++) {
            if (ready[index].data.fd == listener) greet(listener);
            uint64_t due = 0;
            if (ready[index].data.fd == timer && read(timer, &due, sizeof due) == sizeof due)
                while (due--) publish(sequence++);
        }
        if (rate <= 0 && count) publish(sequence++);
    }
}
