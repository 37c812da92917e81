/* The limit of any design that sends event by event: one epoll loop that writes one pre-encoded frame with one `send` to
   each consumer. It reads requests only as far as it must, and does nothing else that a server has to do.

     BareSender --rate EVENTS_PER_SECOND [--sparse 1]

   Rate 0: the next event follows as soon as the last one is with everybody. Sparse: an event is for one consumer only,
   for one after the other. */

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
#include <time.h>
#include <unistd.h>

enum { MOST_CONSUMERS = 65536, MOST_EVENTS = 256 };

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                           "Cache-Control: no-store, no-transform\r\nTransfer-Encoding: chunked\r\n\r\n";

static int consumers[MOST_CONSUMERS];
static int places[MOST_CONSUMERS];
static char *rests[MOST_CONSUMERS];
static int consumer_count;
static uint64_t sequence;

static uint64_t
now (void)
{
  struct timespec reading;

  clock_gettime (CLOCK_MONOTONIC, &reading);
  return (uint64_t) reading.tv_sec * 1000000000u + (uint64_t) reading.tv_nsec;
}

static int
listen_somewhere (void)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t length = sizeof (address);
  int on = 1;
  int buffer = 64 * 1024;
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

  setsockopt (listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
  setsockopt (listener, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof (buffer));
  if (bind (listener, (struct sockaddr *) &address, length) != 0 || listen (listener, 4096) != 0
      || getsockname (listener, (struct sockaddr *) &address, &length) != 0)
    {
      perror ("listen");
      exit (1);
    }
  printf ("port %d\n", ntohs (address.sin_port));
  fflush (stdout);
  return listener;
}

static void
forget (int consumer)
{
  int last = consumers[--consumer_count];

  consumers[places[consumer]] = last;
  places[last] = places[consumer];
  places[consumer] = -1;
  free (rests[consumer]);
  rests[consumer] = NULL;
  close (consumer);
}

/* Accepts who waits; they become consumers with their request. */
static void
accept_all (int poller, int listener)
{
  int consumer;

  while ((consumer = accept4 (listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
    {
      struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data.fd = consumer };

      if (consumer >= MOST_CONSUMERS || epoll_ctl (poller, EPOLL_CTL_ADD, consumer, &event) != 0)
        close (consumer);
      else
        places[consumer] = -1;
    }
}

static void
notice (int consumer, uint32_t events)
{
  char input[4096];
  ssize_t count = recv (consumer, input, sizeof (input), 0);

  if (count <= 0 || (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0)
    {
      if (places[consumer] >= 0)
        forget (consumer);
      else
        close (consumer);
    }
  else if (places[consumer] < 0)
    {
      places[consumer] = consumer_count;
      consumers[consumer_count++] = consumer;
      send (consumer, head, sizeof (head) - 1, MSG_NOSIGNAL);
    }
}

static size_t
encode (char *frame, size_t size, uint64_t at)
{
  char payload[512];
  int count = snprintf (payload, sizeof (payload),
                        "event: update\nid: bench-%llu\ndata: {\"client\":\"c1\",\"subscription\":\"s0\","
                        "\"item\":\"item1\",\"itemPos\":1,\"snapshot\":false,\"fields\":{\"last_price\":\"%llu.25\","
                        "\"at\":\"@%llu\"}}\n\n",
                        (unsigned long long) sequence, (unsigned long long) (sequence % 90 + 10),
                        (unsigned long long) at);

  return (size_t) snprintf (frame, size, "%x\r\n%s\r\n", count, payload);
}

/* Events that a consumer cannot take are left out; what it took half of is finished first. */
static void
send_to (int consumer, const char *frame, size_t length)
{
  ssize_t count;

  if (rests[consumer] != NULL)
    {
      size_t left = strlen (rests[consumer]);

      count = send (consumer, rests[consumer], left, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0)
        memmove (rests[consumer], rests[consumer] + count, left - (size_t) count + 1);
      if (count != (ssize_t) left)
        return;
      free (rests[consumer]);
      rests[consumer] = NULL;
    }
  count = send (consumer, frame, length, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0 && count < (ssize_t) length)
    rests[consumer] = strdup (frame + count);
}

static void
publish (int is_sparse)
{
  char frame[600];
  size_t length;

  sequence++;
  length = encode (frame, sizeof (frame), now ());
  if (consumer_count == 0)
    return;
  if (is_sparse)
    send_to (consumers[sequence % (uint64_t) consumer_count], frame, length);
  else
    for (int index = consumer_count - 1; index >= 0; index--)
      send_to (consumers[index], frame, length);
}

static uint64_t
option (int count, char **arguments, const char *name, uint64_t otherwise)
{
  for (int index = 1; index + 1 < count; index += 2)
    if (strcmp (arguments[index], name) == 0)
      return strtoull (arguments[index + 1], NULL, 10);
  return otherwise;
}

int
main (int argument_count, char **arguments)
{
  uint64_t rate = option (argument_count, arguments, "--rate", 20);
  int is_sparse = (int) option (argument_count, arguments, "--sparse", 0);
  uint64_t interval = rate == 0 ? 0 : 1000000000u / rate;
  uint64_t next = now () + interval;
  struct rlimit descriptors;
  int listener;
  int poller = epoll_create1 (0);
  struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };

  getrlimit (RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit (RLIMIT_NOFILE, &descriptors);
  listener = listen_somewhere ();
  epoll_ctl (poller, EPOLL_CTL_ADD, listener, &event);
  for (;;)
    {
      struct epoll_event events[MOST_EVENTS];
      uint64_t present = now ();
      struct timespec wait = { 0, 0 };
      int count;

      if (rate == 0 && consumer_count == 0)
        wait.tv_nsec = 10000000;
      else if (next > present)
        wait = (struct timespec) { (time_t) ((next - present) / 1000000000u), (long) ((next - present) % 1000000000u) };
      count = epoll_pwait2 (poller, events, MOST_EVENTS, &wait, NULL);
      for (int index = 0; index < count; index++)
        {
          if (events[index].data.fd < 0)
            accept_all (poller, listener);
          else
            notice (events[index].data.fd, events[index].events);
        }
      if (rate == 0 || now () >= next)
        {
          publish (is_sparse);
          next += interval;
          /* What is long overdue is not made up for: that would be another load. */
          if (now () > next + 100000000u)
            next = now ();
        }
    }
}
