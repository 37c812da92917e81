#ifndef CGATEWAYFILES_H
#define CGATEWAYFILES_H

#include <stddef.h>

/// A file that is part of the binary. Its bytes live as long as the process.
struct cgf_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The file at an index, from 0 on; NULL beyond the last one.
const struct cgf_file *cgf_file_at(size_t index);

/// Compresses bytes with gzip; returns the number of bytes written, 0 where `capacity` does not suffice.
size_t cgf_gzip(const unsigned char *bytes, size_t count, unsigned char *output, size_t capacity);

#endif
