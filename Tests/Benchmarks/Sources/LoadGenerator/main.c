/* Opens many event streams, or sends requests, for a while, and prints one line of JSON: the events or responses, their
   latencies, and the CPU time of the server. Time and CPU are taken from the same clock, over the same window. */

#define _GNU_SOURCE
#include <inttypes.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "consumer.h"
#include "options.h"
#include "process.h"
#include "requester.h"

enum { MOST_EVENTS = 512 };

/* How often the slow ones drink, and how much. */
static const uint64_t sip_interval = 100000000;
static const size_t sip_size = 100;

static struct options options;
static struct consumer *consumers;
static struct requester *requesters;
static struct findings findings;
static int poller;
static struct connection publisher = { .descriptor = -1 };
static uint64_t next_publication;
static uint64_t next_sip;
static uint64_t published;

/* Posts an event as long as the others', for servers that have none of their own. A server that does not read its
   requests gets no more of them. */
static void
publish (void)
{
  char body[512];
  char request[1024];
  int waiting = 0;
  int length = snprintf (body, sizeof (body),
                         "{\"client\":\"c1\",\"subscription\":\"s0\",\"item\":\"item1\",\"itemPos\":1,\"snapshot\":false,"
                         "\"fields\":{\"last_price\":\"%" PRIu64 ".25\",\"at\":\"@%" PRIu64 "\"}}",
                         published++ % 90 + 10, monotonic_now ());

  if (ioctl (publisher.descriptor, SIOCOUTQ, &waiting) != 0 || waiting > 32768)
    return;
  length = snprintf (request, sizeof (request), "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s",
                     options.publish_path, length, body);
  connection_send (&publisher, request, (size_t) length);
}

static void
connect_publisher (void)
{
  struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };

  connection_open (&publisher, &options, 0);
  epoll_ctl (poller, EPOLL_CTL_ADD, publisher.descriptor, &event);
  next_publication = monotonic_now ();
}

/* What has to be done at certain times. */
static void
act (uint64_t now)
{
  static char answers[65536];

  while (publisher.descriptor >= 0 && now >= next_publication)
    {
      publish ();
      while (connection_receive (&publisher, answers, sizeof (answers)) > 0)
        ;
      next_publication += 1000000000u / (uint64_t) options.publish_rate;
      if (now > next_publication + 100000000u)
        next_publication = now;
    }
  if (options.slow_streams > 0 && now >= next_sip)
    {
      next_sip = now + sip_interval;
      for (int index = 0; index < options.slow_streams; index++)
        consumer_sip (&consumers[options.streams + index], sip_size);
    }
}

static void
read_until (uint64_t end)
{
  struct epoll_event events[MOST_EVENTS];
  uint64_t now;

  while ((now = monotonic_now ()) < end)
    {
      int wait = publisher.descriptor >= 0 || options.slow_streams > 0 ? 1 : (int) ((end - now) / 1000000u) + 1;
      int count;

      /* A server that is slower than this program would be charged with waking it at each response, and a faster one
         would not: requests that follow each other are sent without sleeping. */
      if (requesters != NULL && !options.long_poll)
        wait = 0;
      count = epoll_wait (poller, events, MOST_EVENTS, wait);

      for (int index = 0; index < count; index++)
        {
          struct consumer *consumer;

          if (events[index].data.fd < 0)
            continue;
          if (requesters != NULL)
            {
              if (!requester_read (&requesters[events[index].data.fd], &findings))
                {
                  fprintf (stderr, "a connection was closed\n");
                  exit (1);
                }
              continue;
            }
          consumer = &consumers[events[index].data.fd];
          if (!consumer_read (consumer, &options, &findings))
            {
              findings.closed_count++;
              epoll_ctl (poller, EPOLL_CTL_DEL, consumer->connection.descriptor, NULL);
            }
        }
      act (monotonic_now ());
    }
}

/* Connects, sends a request, reads the response and closes, again and again. Each of these counts as an event. */
static void
shake_hands_until (uint64_t end)
{
  char text[512];
  int length = snprintf (text, sizeof (text), "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                         options.path);
  uint64_t start;

  while ((start = monotonic_now ()) < end)
    {
      struct connection connection;
      ssize_t count;

      connection_open (&connection, &options, 0);
      connection_send (&connection, text, (size_t) length);
      while ((count = connection_receive (&connection, text + length, sizeof (text) - (size_t) length)) != 0)
        if (count < 0)
          connection_wait (&connection);
      connection_close (&connection);
      if (!findings.is_measuring)
        continue;
      findings.events++;
      histogram_add (&findings.latency, monotonic_now () - start);
    }
}

/* Works for a while: opens connections, or reads from those that are open. */
static void
work_until (uint64_t end)
{
  if (options.handshakes)
    shake_hands_until (end);
  else
    read_until (end);
}

/* Opens all streams, a few at a time, and waits for their heads. */
static void
open_all (void)
{
  uint64_t patience = monotonic_now () + 60000000000u;

  for (int index = 0; index < options.streams + options.slow_streams; index++)
    {
      struct epoll_event event = { .events = EPOLLIN, .data.fd = index };

      consumer_open (&consumers[index], &options, index);
      if (index < options.streams)
        epoll_ctl (poller, EPOLL_CTL_ADD, consumers[index].connection.descriptor, &event);
      if (index % 64 == 63)
        read_until (monotonic_now () + 1000000u);
    }
  while (findings.open_count < options.streams && monotonic_now () < patience)
    read_until (monotonic_now () + 10000000u);
}

/* Opens the connections that send requests. */
static void
open_requesters (void)
{
  requesters = calloc ((size_t) options.requests, sizeof (struct requester));
  for (int index = 0; index < options.requests; index++)
    {
      struct epoll_event event = { .events = EPOLLIN, .data.fd = index };

      requester_open (&requesters[index], &options);
      epoll_ctl (poller, EPOLL_CTL_ADD, requesters[index].connection.descriptor, &event);
    }
}

static void
report (uint64_t cpu, uint64_t time, uint64_t own_cpu, uint64_t memory_before)
{
  uint64_t least = UINT64_MAX;

  for (int index = 0; index < options.streams; index++)
    if (consumers[index].events < least)
      least = consumers[index].events;
  printf ("{\"events\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"seconds\": %.6f, \"cpu\": %.6f, \"loadCPU\": %.6f, ",
          findings.events, findings.bytes, (double) time / 1e9, (double) cpu / 1e9, (double) own_cpu / 1e9);
  printf ("\"p50\": %.4f, \"p99\": %.4f, \"p999\": %.4f, ", histogram_milliseconds (&findings.latency, 0.5),
          histogram_milliseconds (&findings.latency, 0.99), histogram_milliseconds (&findings.latency, 0.999));
  printf ("\"least\": %" PRIu64 ", \"open\": %d, \"closed\": %d, ", least, findings.open_count, findings.closed_count);
  printf ("\"memoryBefore\": %" PRIu64 ", \"memory\": %" PRIu64 "}\n", memory_before, process_memory (options.pid));
}

int
main (int count, char **arguments)
{
  struct rlimit descriptors;
  uint64_t memory_before;
  uint64_t cpu;
  uint64_t own_cpu;
  uint64_t start;

  options = read_options (count, arguments);
  getrlimit (RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit (RLIMIT_NOFILE, &descriptors);
  poller = epoll_create1 (0);
  consumers = calloc ((size_t) (options.streams + options.slow_streams) + 1, sizeof (struct consumer));
  memory_before = process_memory (options.pid);
  if (options.requests > 0)
    open_requesters ();
  else if (!options.handshakes)
    open_all ();
  if (options.publish_path != NULL)
    connect_publisher ();
  work_until (monotonic_now () + (uint64_t) (options.warm_up * 1e9));

  findings.is_measuring = 1;
  start = monotonic_now ();
  cpu = process_cpu (options.pid);
  own_cpu = process_cpu (getpid ());
  work_until (start + (uint64_t) (options.seconds * 1e9));
  report (process_cpu (options.pid) - cpu, monotonic_now () - start, process_cpu (getpid ()) - own_cpu, memory_before);
  return 0;
}
