#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>

/* The CPU time that all threads of a process have used, in nanoseconds; 0 if it is not there. */
uint64_t process_cpu (int pid);

/* The memory of a process that is its own, in KiB. */
uint64_t process_memory (int pid);

/* The present moment, in nanoseconds of the monotonic clock. */
uint64_t monotonic_now (void);

#endif
