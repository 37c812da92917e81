#include "CGatewayFiles.h"

#define ZLIB_CONST  // The input is const.
#include <zlib.h>

// The window of 32 KiB; 16 more asks for the gzip format.
enum { gzip_window_bits = 15 + 16, memory_level = 9 };

size_t cgf_gzip(const unsigned char *bytes, size_t count, unsigned char *output, size_t capacity) {
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window_bits, memory_level, Z_DEFAULT_STRATEGY) != Z_OK) {
        return 0;
    }
    stream.next_in = bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = output;
    stream.avail_out = (uInt)capacity;
    int result = deflate(&stream, Z_FINISH);
    size_t written = result == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    return written;
}
