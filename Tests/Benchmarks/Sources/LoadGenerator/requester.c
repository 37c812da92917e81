#define _GNU_SOURCE
#include "requester.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

/* All connections send the same request, in long polls with the tag of their last response. */
static char request[2048];
static int request_length;
static int is_long_poll;

static void
write_request (const struct options *options)
{
  is_long_poll = options->long_poll;
  request_length = snprintf (request, sizeof (request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: %s\r\n",
                             options->path, options->port, options->accept);
  if (options->if_none_match != NULL)
    request_length += snprintf (request + request_length, sizeof (request) - (size_t) request_length,
                                "If-None-Match: %s\r\n", options->if_none_match);
  if (is_long_poll)
    request_length += snprintf (request + request_length, sizeof (request) - (size_t) request_length,
                                "Prefer: wait=300\r\n");
}

static void
send_request (struct requester *requester)
{
  static char whole[sizeof (request) + sizeof (requester->tag) + 32];
  int length = request_length;

  memcpy (whole, request, (size_t) length);
  if (is_long_poll && requester->tag[0] != 0)
    length += sprintf (whole + length, "If-None-Match: %s\r\n", requester->tag);
  length += sprintf (whole + length, "\r\n");
  requester->sent_at = monotonic_now ();
  connection_send (&requester->connection, whole, (size_t) length);
}

/* Keeps the tag of a response. */
static void
keep_tag (struct requester *requester)
{
  const char *tag = strcasestr (requester->head, "\r\nETag: ");
  size_t length;

  if (tag == NULL)
    return;
  tag += sizeof ("\r\nETag: ") - 1;
  length = strcspn (tag, "\r");
  if (length >= sizeof (requester->tag))
    return;
  memcpy (requester->tag, tag, length);
  requester->tag[length] = 0;
}

void
requester_open (struct requester *requester, const struct options *options)
{
  if (request_length == 0)
    write_request (options);
  connection_open (&requester->connection, options, 0);
  send_request (requester);
}

/* Takes the head out of what was read; the number of bytes that belong to it. */
static size_t
take_head (struct requester *requester, const char *bytes, size_t count)
{
  size_t before = requester->head_length;
  size_t taken = count < sizeof (requester->head) - 1 - before ? count : sizeof (requester->head) - 1 - before;
  const char *end;
  const char *length;
  int status;

  memcpy (requester->head + before, bytes, taken);
  requester->head_length += (uint32_t) taken;
  requester->head[requester->head_length] = 0;
  end = strstr (requester->head, "\r\n\r\n");
  if (end == NULL)
    return taken;
  status = atoi (requester->head + sizeof ("HTTP/1.1"));
  if (status != 200 && status != 204 && status != 304)
    {
      fprintf (stderr, "%s", requester->head);
      exit (1);
    }
  if (is_long_poll)
    keep_tag (requester);
  length = strcasestr (requester->head, "\r\nContent-Length:");
  requester->body_left = length == NULL || status == 304 ? 0 : strtoull (length + sizeof ("\r\nContent-Length"), NULL, 10);
  requester->head_length = UINT32_MAX;
  return (size_t) (end + 4 - requester->head) - before;
}

int
requester_read (struct requester *requester, struct findings *findings)
{
  static char buffer[256 * 1024];
  ssize_t count = connection_receive (&requester->connection, buffer, sizeof (buffer));
  size_t place = 0;

  if (count <= 0)
    return count < 0 && (errno == EAGAIN || errno == EINTR);
  if (requester->head_length != UINT32_MAX)
    place = take_head (requester, buffer, (size_t) count);
  if (requester->head_length != UINT32_MAX)
    return 1;
  requester->body_left -= (uint64_t) count - place;
  if (requester->body_left > 0)
    return 1;
  requester->head_length = 0;
  if (findings->is_measuring)
    {
      findings->events++;
      findings->bytes += (uint64_t) count;
      histogram_add (&findings->latency, monotonic_now () - requester->sent_at);
    }
  send_request (requester);
  return 1;
}
