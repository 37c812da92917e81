#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdint.h>

/* The allocations of the process so far. This target replaces `malloc`, `calloc`, `realloc` and `posix_memalign`. */
uint64_t allocations_so_far (void);

#endif
