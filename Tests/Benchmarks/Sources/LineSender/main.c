/* A Lightstreamer server with the same response for all clients: one session over HTTP streaming, one subscription of 30
   items with 6 fields, a given number of updates, as fast as the client reads them. The last one has `end` in its last field.

     LineSender --lines N

   The first line of output is the port, and how long how many lines are. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ITEMS = 30, BLOCK_LINES = 3000 };

static const char stream_head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/enriched; charset=UTF-8\r\n"
                                  "Cache-Control: no-store, no-transform, no-cache\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char session[] = "CONOK,Sbenchmark,50000,3600000,*\r\nSERVNAME,Line sender\r\nCONS,unlimited\r\n";
static const char confirmation[] = "SUBOK,1,30,6\r\nCONF,1,unlimited,filtered\r\n";

static long lines = 100000;
static char block[1024 * 1024];
static size_t block_size;
static sem_t subscribed;

static int
say (int descriptor, const char *bytes, size_t count)
{
  while (count > 0)
    {
      ssize_t taken = send (descriptor, bytes, count, MSG_NOSIGNAL);

      if (taken <= 0)
        return 0;
      bytes += taken;
      count -= (size_t) taken;
    }
  return 1;
}

static int
say_chunk (int descriptor, const char *bytes, size_t count)
{
  char length[24];

  return say (descriptor, length, (size_t) snprintf (length, sizeof (length), "%zx\r\n", count))
         && say (descriptor, bytes, count) && say (descriptor, "\r\n", 2);
}

/* Updates as a quote feed sends them: some fields changed, some not. */
static void
fill_block (void)
{
  unsigned int random = 1;

  for (int line = 0; line < BLOCK_LINES; line++)
    {
      random = random * 1664525u + 1013904223u;
      block_size += (size_t) snprintf (block + block_size, sizeof (block) - block_size,
                                       "U,1,%d,|%u.%02u|12:%02u:%02u|%s%u.%02u|%u|\r\n", line % ITEMS + 1, random >> 25,
                                       random % 100, random % 60, (random >> 8) % 60, random & 1 ? "-" : "",
                                       (random >> 4) % 10, (random >> 12) % 100, (random >> 16) * 100);
    }
}

static void
send_updates (int descriptor)
{
  char snapshot[4096];
  size_t size = 0;
  static const char end[] = "U,1,1,|||||end\r\n";

  for (int item = 1; item <= ITEMS; item++)
    size += (size_t) snprintf (snapshot + size, sizeof (snapshot) - size,
                               "U,1,%d,Instrument %d|10.00|12:00:00|0.00|1000|open\r\n", item, item);
  if (!say_chunk (descriptor, confirmation, sizeof (confirmation) - 1) || !say_chunk (descriptor, snapshot, size))
    return;
  for (long sent = 0; sent < lines; sent += BLOCK_LINES)
    if (!say_chunk (descriptor, block, block_size))
      return;
  say_chunk (descriptor, end, sizeof (end) - 1);
}

/* Answers the creation of a session, or its binding: a poll is over at once, a stream carries the updates. */
static int
answer_session (int descriptor, const char *request)
{
  static const char loop[] = "LOOP,0\r\n";

  if (!say (descriptor, stream_head, sizeof (stream_head) - 1)
      || !say_chunk (descriptor, session, sizeof (session) - 1))
    return 0;
  if (strstr (request, "LS_polling=true") != NULL)
    return say_chunk (descriptor, loop, sizeof (loop) - 1) && say (descriptor, "0\r\n\r\n", 5);
  sem_wait (&subscribed);
  send_updates (descriptor);
  return 1;
}

/* Answers a control request; 0 if the connection is of no use any more. */
static int
answer_control (int descriptor, const char *request)
{
  const char *id = strstr (request, "LS_reqId=");
  char body[64];
  char answer[256];
  int length = snprintf (body, sizeof (body), "REQOK,%d\r\n", id == NULL ? 0 : atoi (id + 9));

  length = snprintf (answer, sizeof (answer), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
                     length, body);
  if (strstr (request, "LS_op=add") != NULL)
    sem_post (&subscribed);
  return say (descriptor, answer, (size_t) length);
}

static void *
serve (void *argument)
{
  int descriptor = (int) (intptr_t) argument;
  char request[16384];
  size_t size = 0;
  ssize_t count;

  while ((count = recv (descriptor, request + size, sizeof (request) - 1 - size, 0)) > 0)
    {
      char *body;
      char *length;

      size += (size_t) count;
      request[size] = 0;
      body = strstr (request, "\r\n\r\n");
      length = strcasestr (request, "content-length:");
      if (body == NULL || (length != NULL && strlen (body + 4) < (size_t) atoi (length + 15)))
        continue;
      size = 0;
      if (strstr (request, "_session.txt") != NULL ? !answer_session (descriptor, request)
                                                   : !answer_control (descriptor, request))
        break;
    }
  close (descriptor);
  return NULL;
}

int
main (int count, char **arguments)
{
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t size = sizeof (address);
  int listener = socket (AF_INET, SOCK_STREAM, 0);
  int on = 1;

  if (count == 3 && strcmp (arguments[1], "--lines") == 0)
    lines = atol (arguments[2]);
  fill_block ();
  sem_init (&subscribed, 0, 0);
  setsockopt (listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof (on));
  if (bind (listener, (struct sockaddr *) &address, size) != 0 || listen (listener, 16) != 0
      || getsockname (listener, (struct sockaddr *) &address, &size) != 0)
    {
      perror ("listen");
      return 1;
    }
  printf ("port %d lines %d bytes %zu\n", ntohs (address.sin_port), BLOCK_LINES, block_size);
  fflush (stdout);
  for (;;)
    {
      pthread_t thread;
      int descriptor = accept (listener, NULL, NULL);

      if (descriptor >= 0 && pthread_create (&thread, NULL, serve, (void *) (intptr_t) descriptor) == 0)
        pthread_detach (thread);
    }
}
