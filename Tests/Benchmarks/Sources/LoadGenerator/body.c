#include "body.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

struct body
{
  enum { HEAD, SIZE, DATA } place;
  /* Of the empty line that ends the head: the bytes that have come. */
  int line_ends;
  /* Of the present chunk: its size, or the bytes that are still to come. */
  size_t left;
  z_stream inflater;
};

/* The text of one call. */
static char text[1 << 20];

struct body *
body_new (void)
{
  struct body *body = calloc (1, sizeof (struct body));

  /* 16: with the header and the trailer of gzip */
  if (body == NULL || inflateInit2 (&body->inflater, 15 + 16) != Z_OK)
    {
      fprintf (stderr, "no memory to inflate\n");
      exit (1);
    }
  return body;
}

/* Inflates a part of a chunk behind the text that is there. */
static void
inflate_part (struct body *body, const char *bytes, size_t count, size_t *length)
{
  z_stream *inflater = &body->inflater;
  int code;

  inflater->next_in = (unsigned char *) bytes;
  inflater->avail_in = (unsigned) count;
  inflater->next_out = (unsigned char *) text + *length;
  inflater->avail_out = (unsigned) (sizeof (text) - *length);
  code = inflate (inflater, Z_SYNC_FLUSH);
  if ((code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) || inflater->avail_in > 0)
    {
      fprintf (stderr, "not gzip: %s\n", inflater->msg != NULL ? inflater->msg : "more than the buffer takes");
      exit (1);
    }
  *length = sizeof (text) - inflater->avail_out;
}

/* A byte of the size of a chunk. */
static void
take_size (struct body *body, char byte)
{
  if (byte >= '0' && byte <= '9')
    body->left = body->left * 16 + (size_t) (byte - '0');
  else if ((byte | 32) >= 'a' && (byte | 32) <= 'f')
    body->left = body->left * 16 + (size_t) ((byte | 32) - 'a' + 10);
  else if (byte == '\n')
    body->place = DATA;
}

/* A byte of the head. */
static void
take_head (struct body *body, char byte)
{
  if (byte == '\n')
    body->line_ends++;
  else if (byte != '\r')
    body->line_ends = 0;
  if (body->line_ends == 2)
    body->place = SIZE;
}

const char *
body_take (struct body *body, const char *bytes, size_t count, size_t *length)
{
  *length = 0;
  for (size_t index = 0; index < count;)
    if (body->place == DATA && body->left > 0)
      {
        size_t part = body->left < count - index ? body->left : count - index;

        inflate_part (body, bytes + index, part, length);
        body->left -= part;
        index += part;
      }
    else if (body->place == HEAD)
      take_head (body, bytes[index++]);
    else if (body->place == SIZE)
      take_size (body, bytes[index++]);
    else if (bytes[index++] == '\n')
      body->place = SIZE;
  return text;
}
