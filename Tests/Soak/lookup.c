/* Makes the lookup of every host name that ends in ".slow.test" last without end. Loaded by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int
getaddrinfo (const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
             struct addrinfo **restrict result)
{
  static const char suffix[] = ".slow.test";
  static int (*original) (const char *, const char *, const struct addrinfo *, struct addrinfo **);
  size_t length = NULL == node ? 0 : strlen (node);

  while (length >= sizeof (suffix) - 1 && 0 == strcmp (node + length - (sizeof (suffix) - 1), suffix))
    pause ();
  if (NULL == original)
    original = (int (*) (const char *, const char *, const struct addrinfo *, struct addrinfo **))
      dlsym (RTLD_NEXT, "getaddrinfo");
  return original (node, service, hints, result);
}
