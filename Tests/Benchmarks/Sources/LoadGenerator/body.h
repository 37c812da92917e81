#ifndef BODY_H
#define BODY_H

#include <stddef.h>

/* The body of a chunked response that is compressed with gzip. */
struct body;

struct body *body_new (void);

/* Takes bytes of the response as they come, with its head and the sizes of its chunks, and returns the text that they
   complete. The text stays valid until the next call. Ends the process if the bytes are not gzip.

     length: set to the length of the text */
const char *body_take (struct body *body, const char *bytes, size_t count, size_t *length);

#endif
