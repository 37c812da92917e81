/* Shifts the wall clock of a process by the number of seconds in the file that CLOCK_OFFSET_FILE names. Loaded by
   LD_PRELOAD; the monotonic clock is left alone. Waits until a time of the wall clock end by the shifted clock, also if it
   is moved meanwhile. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long
offset (void)
{
  char text[32] = "";
  const char *path = getenv ("CLOCK_OFFSET_FILE");
  int file = NULL == path ? -1 : open (path, O_RDONLY | O_CLOEXEC);

  if (file >= 0)
  {
    if (read (file, text, sizeof (text) - 1) < 0)
      text[0] = 0;
    close (file);
  }
  return atol (text);
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  static int (*original) (clockid_t, struct timespec *);
  int code;

  if (NULL == original)
    original = (int (*) (clockid_t, struct timespec *)) dlsym (RTLD_NEXT, "clock_gettime");
  code = original (clock, time);
  if (0 == code && (CLOCK_REALTIME == clock || CLOCK_REALTIME_COARSE == clock))
    time->tv_sec += offset ();
  return code;
}

int
gettimeofday (struct timeval *restrict time, void *restrict zone)
{
  struct timespec now;
  int code = clock_gettime (CLOCK_REALTIME, &now);

  (void) zone;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return code;
}

time_t
time (time_t *result)
{
  struct timespec now;

  clock_gettime (CLOCK_REALTIME, &now);
  if (NULL != result)
    *result = now.tv_sec;
  return now.tv_sec;
}

/* How long a wait lasts before the clock is looked at again, in nanoseconds. */
static const long slice = 50000000;
/* A time limit this far from the wall clock belongs to a condition with the monotonic clock. */
static const time_t implausible = 10 * 365 * 86400;

int
pthread_cond_timedwait (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                        const struct timespec *restrict limit)
{
  static int (*original) (pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  struct timespec now;
  struct timespec until;
  int code;

  if (NULL == original)
  {
    /* On x86 another version of the function exists, for conditions of another size. */
    void *symbol = dlvsym (RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");

    if (NULL == symbol)
      symbol = dlsym (RTLD_NEXT, "pthread_cond_timedwait");
    original = (int (*) (pthread_cond_t *, pthread_mutex_t *, const struct timespec *)) symbol;
  }
  clock_gettime (CLOCK_REALTIME, &now);
  if (limit->tv_sec < now.tv_sec - implausible)
    return original (condition, mutex, limit);
  for (;;)
  {
    long left = (limit->tv_sec - now.tv_sec) > 1 ? slice
        : (limit->tv_sec - now.tv_sec) * 1000000000L + limit->tv_nsec - now.tv_nsec;

    if (left <= 0)
      return ETIMEDOUT;
    until = now;
    until.tv_sec -= offset ();
    until.tv_nsec += left < slice ? left : slice;
    if (until.tv_nsec >= 1000000000L)
    {
      until.tv_sec++;
      until.tv_nsec -= 1000000000L;
    }
    code = original (condition, mutex, &until);
    if (ETIMEDOUT != code)
      return code;
    clock_gettime (CLOCK_REALTIME, &now);
  }
}
