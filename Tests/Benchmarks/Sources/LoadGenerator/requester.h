#ifndef REQUESTER_H
#define REQUESTER_H

#include <stdint.h>

#include "consumer.h"
#include "options.h"

/* One kept-alive connection, on which a request follows as soon as the response before it has been read. */
struct requester
{
  struct connection connection;
  /* The bytes of a head so far. */
  char head[2048];
  uint32_t head_length;
  /* The bytes of the body that are still to come. */
  uint64_t body_left;
  uint64_t sent_at;
  /* The tag of the last response, in its quotation marks; empty before the first one. */
  char tag[160];
};

/* Connects, and sends the first request. Ends the process if that is not possible. */
void requester_open (struct requester *requester, const struct options *options);

/* Reads what is there, once, and sends the next request after a whole response; 0 if the connection is over. */
int requester_read (struct requester *requester, struct findings *findings);

#endif
