#include "histogram.h"

/* The highest bit of a value names 128 buckets; the seven bits behind it, one of them. */
static unsigned int
bucket (uint64_t value)
{
  unsigned int magnitude;

  if (value < 128)
    return (unsigned int) value;
  magnitude = 63u - (unsigned int) __builtin_clzll (value);
  return (magnitude - 6) * 128 + (unsigned int) ((value >> (magnitude - 7)) & 127);
}

static double
value (unsigned int bucket)
{
  if (bucket < 128)
    return bucket;
  return (double) (128 + bucket % 128) * (double) (1ull << (bucket / 128 - 1));
}

void
histogram_add (struct histogram *histogram, uint64_t nanoseconds)
{
  histogram->counts[bucket (nanoseconds)]++;
  histogram->total++;
}

double
histogram_milliseconds (const struct histogram *histogram, double share)
{
  uint64_t wanted = (uint64_t) ((double) histogram->total * share);
  uint64_t seen = 0;

  for (unsigned int index = 0; index < HISTOGRAM_BUCKETS; index++)
    {
      seen += histogram->counts[index];
      if (seen > wanted)
        return value (index) / 1e6;
    }
  return 0;
}
