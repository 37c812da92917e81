/* Shifts the wall clock of a process by the number of seconds in the file that CLOCK_OFFSET_FILE names. Loaded by
   LD_PRELOAD; the monotonic clock is left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
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
