// The load: many consumers of one event stream in one process.
//
//     stream-readers PORT PATH CONSUMERS SECONDS [SLOW]
//
// Opens the consumers, lets the streams settle for a second, then measures: events, and for each the time since the
// moment that the event itself tells ("at":"NANOSECONDS" on the monotonic clock of this machine). SLOW of the consumers
// read 1,000 bytes a second and are left out of the figures. Prints one line of JSON.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most = 70000, keep = 64, buckets = 64 * 32 };

struct consumer {
    int descriptor;
    int kept;               // Bytes of a mark that a read cut in two.
    char tail[keep];
    uint64_t events;
};

static struct consumer consumers[most];
static uint64_t histogram[buckets], events, bytes, closed;
static int measuring;

static uint64_t now(void) {
    struct timespec reading;
    clock_gettime(CLOCK_MONOTONIC, &reading);
    return (uint64_t)reading.tv_sec * 1000000000u + (uint64_t)reading.tv_nsec;
}

// A histogram with 32 steps to each doubling: 3 % wide.
static int bucket(uint64_t value) {
    if (value < 32) return (int)value;
    int exponent = 63 - __builtin_clzll(value);
    return (exponent - 4) * 32 + (int)((value >> (exponent - 5)) & 31);
}

static uint64_t bucketValue(int index) {
    if (index < 32) return (uint64_t)index;
    int exponent = index / 32 + 4;
    return (1ull << exponent) + ((uint64_t)(index % 32) << (exponent - 5));
}

static uint64_t percentile(double share) {
    uint64_t total = 0, seen = 0;
    for (int index = 0; index < buckets; index++) total += histogram[index];
    for (int index = 0; index < buckets; index++) {
        seen += histogram[index];
        if ((double)seen >= share * (double)total && seen) return bucketValue(index);
    }
    return 0;
}

static void scan(struct consumer *consumer, const char *data, size_t size, uint64_t time) {
    static const char mark[] = "\"at\":\"";
    const char *end = data + size, *place = data;
    while ((place = memmem(place, (size_t)(end - place), mark, sizeof mark - 1))) {
        const char *digits = place + sizeof mark - 1, *stop = memchr(digits, '"', (size_t)(end - digits));
        if (!stop) break;
        uint64_t at = strtoull(digits, NULL, 10);
        consumer->events++;
        if (measuring) {
            events++;
            histogram[bucket(time > at ? time - at : 0)]++;
        }
        place = stop;
    }
    // What may be the beginning of a mark is looked at again with the bytes that follow.
    const char *rest = place ? place : (size > keep / 2 ? end - keep / 2 : data);
    const char *last = place ? place : memmem(rest, (size_t)(end - rest), "\"a", 2);
    consumer->kept = last && end - last < keep ? (int)(end - last) : 0;
    if (consumer->kept) memcpy(consumer->tail, last, (size_t)consumer->kept);
}

static int take(struct consumer *consumer, size_t limit) {
    static char buffer[keep + 262144];
    memcpy(buffer, consumer->tail, (size_t)consumer->kept);
    ssize_t got = recv(consumer->descriptor, buffer + consumer->kept, limit, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (got <= 0) return 0;
    if (measuring) bytes += (uint64_t)got;
    size_t size = (size_t)consumer->kept + (size_t)got;
    consumer->kept = 0;
    scan(consumer, buffer, size, now());
    return 1;
}

static int enter(struct consumer *consumer, int port, const char *path) {
    consumer->descriptor = socket(AF_INET, SOCK_STREAM, 0);
    // Addresses of the loopback net are many: each gives its own range of ports.
    static int serial;
    struct sockaddr_in own = {.sin_family = AF_INET};
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(serial++ % 200));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    setsockopt(consumer->descriptor, SOL_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, &on, sizeof on);
    if (bind(consumer->descriptor, (struct sockaddr *)&own, sizeof own)) return -1;
    if (connect(consumer->descriptor, (struct sockaddr *)&address, sizeof address)) return -1;
    char request[4096];
    int size = snprintf(request, sizeof request,
        "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\nCache-Control: no-cache\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36\r\n"
        "Accept-Encoding: identity\r\nAccept-Language: en-US,en;q=0.9\r\nSec-Fetch-Mode: cors\r\n\r\n", path, port);
    return send(consumer->descriptor, request, (size_t)size, 0) == size ? 0 : -1;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    int port = atoi(argv[1]), count = atoi(argv[3]), slow = argc > 5 ? atoi(argv[5]) : 0;
    double seconds = atof(argv[4]);
    if (count < 1 || count > most || slow > count || seconds <= 0 || seconds > 600) return 2;
    struct rlimit files = {most + 100, most + 100};
    setrlimit(RLIMIT_NOFILE, &files);
    int poll = epoll_create1(0);
    for (int index = 0; index < count; index++) {
        if (enter(&consumers[index], port, argv[2])) { perror("connect"); return 1; }
        if (index < slow) continue;
        struct epoll_event interest = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
        epoll_ctl(poll, EPOLL_CTL_ADD, consumers[index].descriptor, &interest);
    }
    fprintf(stderr, "open\n");
    uint64_t begin = now() + 1000000000u, end = begin + (uint64_t)(seconds * 1e9), slowDue = 0;
    for (uint64_t time = now(); time < end; time = now()) {
        if (!measuring && time >= begin) {
            measuring = 1;
            fprintf(stderr, "begin\n");
        }
        struct epoll_event ready[1024];
        int found = epoll_wait(poll, ready, 1024, 50);
        for (int index = 0; index < found; index++) {
            struct consumer *consumer = &consumers[ready[index].data.u32];
            if (take(consumer, 262144)) continue;
            epoll_ctl(poll, EPOLL_CTL_DEL, consumer->descriptor, NULL);
            closed++;
        }
        if (time >= slowDue) {
            int was = measuring;
            measuring = 0;
            for (int index = 0; index < slow; index++) take(&consumers[index], 100);
            measuring = was;
            slowDue = time + 100000000u;
        }
    }
    uint64_t least = UINT64_MAX, greatest = 0;
    for (int index = slow; index < count; index++) {
        if (consumers[index].events < least) least = consumers[index].events;
        if (consumers[index].events > greatest) greatest = consumers[index].events;
    }
    printf("{\"events\":%llu,\"bytes\":%llu,\"closed\":%llu,\"least\":%llu,\"most\":%llu,"
           "\"p50\":%llu,\"p99\":%llu,\"p999\":%llu}\n",
        (unsigned long long)events, (unsigned long long)bytes, (unsigned long long)closed, (unsigned long long)least,
        (unsigned long long)greatest, (unsigned long long)percentile(0.5), (unsigned long long)percentile(0.99),
        (unsigned long long)percentile(0.999));
    return 0;
}
