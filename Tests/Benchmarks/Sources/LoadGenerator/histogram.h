#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

/* Durations in nanoseconds, in buckets that are less than one percent wide. */
enum { HISTOGRAM_BUCKETS = 64 * 128 };

struct histogram
{
  uint64_t counts[HISTOGRAM_BUCKETS];
  uint64_t total;
};

void histogram_add (struct histogram *histogram, uint64_t nanoseconds);

/* The duration that this share (0 to 1) of all does not exceed, in milliseconds. */
double histogram_milliseconds (const struct histogram *histogram, double share);

#endif
