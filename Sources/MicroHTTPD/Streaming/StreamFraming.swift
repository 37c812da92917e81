/// What the bytes of a content have to look like.
package enum StreamFraming: Sendable, Hashable {
    /// Complete chunks of the chunked transfer coding, each with its length line and closing CR-LF
    /// (see `ChunkFraming`); the last, empty chunk is written by the loop.
    case chunked
    /// The payload as such: for HTTP/1.0 clients, for heads that prefer no chunks, and for TLS, where the
    /// library makes the chunks.
    case bare
}
