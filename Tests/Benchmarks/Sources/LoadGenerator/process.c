#define _GNU_SOURCE
#include "process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t
monotonic_now (void)
{
  struct timespec reading;

  clock_gettime (CLOCK_MONOTONIC, &reading);
  return (uint64_t) reading.tv_sec * 1000000000u + (uint64_t) reading.tv_nsec;
}

uint64_t
process_cpu (int pid)
{
  char path[320];
  uint64_t total = 0;
  struct dirent *entry;
  DIR *tasks;

  snprintf (path, sizeof (path), "/proc/%d/task", pid);
  tasks = opendir (path);
  if (tasks == NULL)
    return 0;
  while ((entry = readdir (tasks)) != NULL)
    {
      uint64_t used;
      FILE *file;

      if (entry->d_name[0] == '.')
        continue;
      snprintf (path, sizeof (path), "/proc/%d/task/%s/schedstat", pid, entry->d_name);
      file = fopen (path, "r");
      if (file == NULL)
        continue;
      if (fscanf (file, "%" SCNu64, &used) == 1)
        total += used;
      fclose (file);
    }
  closedir (tasks);
  return total;
}

uint64_t
process_memory (int pid)
{
  char path[64];
  char line[128];
  uint64_t amount = 0;
  FILE *file;

  snprintf (path, sizeof (path), "/proc/%d/smaps_rollup", pid);
  file = fopen (path, "r");
  if (file == NULL)
    return 0;
  while (fgets (line, sizeof (line), file) != NULL)
    if (sscanf (line, "Anonymous: %" SCNu64, &amount) == 1)
      break;
  fclose (file);
  return amount;
}
