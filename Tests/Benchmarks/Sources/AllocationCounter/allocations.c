#include "allocations.h"

#include <errno.h>
#include <stddef.h>

/* The functions of the C library under their other names. */
void *__libc_malloc (size_t size);
void *__libc_calloc (size_t count, size_t size);
void *__libc_realloc (void *memory, size_t size);
void *__libc_memalign (size_t alignment, size_t size);

static uint64_t count;

uint64_t
allocations_so_far (void)
{
  return __atomic_load_n (&count, __ATOMIC_RELAXED);
}

static void
add (void)
{
  __atomic_add_fetch (&count, 1, __ATOMIC_RELAXED);
}

void *
malloc (size_t size)
{
  add ();
  return __libc_malloc (size);
}

void *
calloc (size_t number, size_t size)
{
  add ();
  return __libc_calloc (number, size);
}

void *
realloc (void *memory, size_t size)
{
  add ();
  return __libc_realloc (memory, size);
}

int
posix_memalign (void **place, size_t alignment, size_t size)
{
  add ();
  *place = __libc_memalign (alignment, size);
  return *place == NULL ? ENOMEM : 0;
}
