#define _GNU_SOURCE
#include "consumer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

static const char browser_headers[] =
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36\r\n"
  "sec-ch-ua: \"Chromium\";v=\"131\", \"Not_A Brand\";v=\"24\"\r\nsec-ch-ua-mobile: ?0\r\n"
  "sec-ch-ua-platform: \"Linux\"\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
  "Accept-Language: en-US,en;q=0.9,it;q=0.8\r\nCache-Control: no-cache\r\nPragma: no-cache\r\n"
  "Sec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Site: same-origin\r\n"
  "Referer: http://127.0.0.1/dashboard/portfolio?view=compact&theme=dark\r\n"
  "Cookie: session=0123456789abcdef0123456789abcdef0123456789abcdef; consent=1.2.3.4.5.6.7.8; theme=dark; "
  "_ga=GA1.1.1234567890.1234567890; _gid=GA1.1.987654321.1234567890; locale=en-US; csrf=fedcba9876543210fedcba98\r\n";

static const char gzip_header[] = "Accept-Encoding: gzip\r\n";

/* One masked text frame; the mask is zero, so that the text stays readable. */
static void
say_frame (struct connection *connection, const char *text)
{
  unsigned char frame[600] = { 0x81, 0xFE };
  size_t length = strlen (text);

  frame[2] = (unsigned char) (length >> 8);
  frame[3] = (unsigned char) length;
  memcpy (frame + 8, text, length);
  connection_send (connection, (const char *) frame, length + 8);
}

static void
ask (struct consumer *consumer, const struct options *options, int number)
{
  char path[512];
  char request[2048];
  int length;

  if (options->tlcp_group != NULL)
    length = snprintf (request, sizeof (request),
                       "GET /lightstreamer HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                       "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YmVuY2htYXJrLWNsaWVudA==\r\n"
                       "Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n\r\n");
  else
    {
      const char *place = strstr (options->path, "%d");

      if (place == NULL)
        snprintf (path, sizeof (path), "%s", options->path);
      else
        snprintf (path, sizeof (path), "%.*s%d%s", (int) (place - options->path), options->path, number, place + 2);
      length = snprintf (request, sizeof (request),
                         "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n%s%s\r\n", path,
                         options->browser_headers ? browser_headers : "", options->gzip ? gzip_header : "");
    }
  connection_send (&consumer->connection, request, (size_t) length);
}

void
consumer_open (struct consumer *consumer, const struct options *options, int number)
{
  /* A slow consumer has a small buffer. */
  int receive_buffer = number >= options->streams ? 4096 : 0;

  *consumer = (struct consumer) { .stage = ASKED, .body = options->gzip ? body_new () : NULL };
  connection_open (&consumer->connection, options, receive_buffer);
  ask (consumer, options, number);
}

static void
converse (struct consumer *consumer, const struct options *options, const char *bytes, size_t count)
{
  char text[512];

  if (consumer->stage == ASKED && memmem (bytes, count, "\r\n\r\n", 4) != NULL)
    {
      say_frame (&consumer->connection, "create_session\r\nLS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg&LS_adapter_set=DEMO"
                                         "&LS_send_sync=false");
      consumer->stage = UPGRADED;
    }
  else if (consumer->stage == UPGRADED && memmem (bytes, count, "CONOK", 5) != NULL)
    {
      snprintf (text, sizeof (text),
                "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=%s&LS_schema=%s&LS_data_adapter=%s",
                options->tlcp_group, options->tlcp_schema, options->tlcp_adapter);
      say_frame (&consumer->connection, text);
      consumer->stage = SUBSCRIBED;
    }
}

/* A timestamp is complete. */
static void
found (struct consumer *consumer, struct findings *findings, uint64_t now)
{
  uint64_t at;

  consumer->digits[consumer->digit_count] = 0;
  consumer->digit_count = 0;
  at = strtoull (consumer->digits + 1, NULL, 10);
  if (at == 0 || !findings->is_measuring)
    return;
  findings->events++;
  consumer->events++;
  histogram_add (&findings->latency, now > at ? now - at : 0);
}

static void
scan (struct consumer *consumer, struct findings *findings, const char *bytes, size_t count)
{
  uint64_t now = monotonic_now ();
  const char *end = bytes + count;
  const char *next = bytes;

  while (next < end)
    {
      if (consumer->digit_count == 0)
        {
          next = memchr (next, '@', (size_t) (end - next));
          if (next == NULL)
            return;
          consumer->digits[consumer->digit_count++] = *next++;
        }
      while (next < end && *next >= '0' && *next <= '9' && consumer->digit_count < sizeof (consumer->digits) - 1)
        consumer->digits[consumer->digit_count++] = *next++;
      if (next < end)
        found (consumer, findings, now);
    }
}

int
consumer_read (struct consumer *consumer, const struct options *options, struct findings *findings)
{
  static char buffer[256 * 1024];
  ssize_t count = connection_receive (&consumer->connection, buffer, sizeof (buffer));
  const char *text = buffer;
  size_t length;

  if (count <= 0)
    return count < 0 && (errno == EAGAIN || errno == EINTR);
  if (findings->is_measuring)
    findings->bytes += (uint64_t) count;
  if (!consumer->is_open)
    {
      findings->open_count++;
      consumer->is_open = 1;
    }
  if (options->tlcp_group != NULL && consumer->stage != SUBSCRIBED)
    converse (consumer, options, buffer, (size_t) count);
  length = (size_t) count;
  if (consumer->body != NULL)
    text = body_take (consumer->body, buffer, length, &length);
  scan (consumer, findings, text, length);
  return 1;
}

int
consumer_sip (struct consumer *consumer, size_t count)
{
  char buffer[4096];
  ssize_t taken = connection_receive (&consumer->connection, buffer, count < sizeof (buffer) ? count : sizeof (buffer));

  return taken > 0 || (taken < 0 && (errno == EAGAIN || errno == EINTR));
}
