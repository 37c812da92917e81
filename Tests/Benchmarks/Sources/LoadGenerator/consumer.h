#ifndef CONSUMER_H
#define CONSUMER_H

#include <stddef.h>
#include <stdint.h>

#include "body.h"
#include "connection.h"
#include "histogram.h"
#include "options.h"

/* One open stream. */
struct consumer
{
  struct connection connection;
  /* For Lightstreamer clients: how far the conversation is. */
  enum { ASKED, UPGRADED, SUBSCRIBED } stage;
  /* What the bytes of a compressed stream become; NULL: the stream is not compressed. */
  struct body *body;
  /* Whether the head of the response has come. */
  int is_open;
  /* The digits of a timestamp that a read cut. */
  char digits[24];
  unsigned char digit_count;
  uint64_t events;
};

/* What consumers found out. */
struct findings
{
  struct histogram latency;
  uint64_t events;
  uint64_t bytes;
  int is_measuring;
  int open_count;
  int closed_count;
};

/* Connects, and asks for the stream. Ends the process if that is not possible. */
void consumer_open (struct consumer *consumer, const struct options *options, int number);

/* Reads what is there, once; 0 if the stream is over. An event is anything with an @, behind which stands the moment of
   its publication in nanoseconds. */
int consumer_read (struct consumer *consumer, const struct options *options, struct findings *findings);

/* Reads a number of bytes at most, and does not look at them; 0 if the stream is over. */
int consumer_sip (struct consumer *consumer, size_t count);

#endif
