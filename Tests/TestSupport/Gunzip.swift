internal import CZlib

/// Reads a body in the gzip format, of which the end may still be missing.
package struct Gunzip {
    package struct Malformed: Error {}

    /// The content so far.
    package let content: [UInt8]
    /// Whether the trailer was read and agrees with the content.
    package let isComplete: Bool

    package init(_ bytes: [UInt8]) throws {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        // The window of 32 KiB; 16 more asks for the gzip format.
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, size) == Z_OK else { throw Malformed() }
        defer { inflateEnd(&stream) }
        var bytes = bytes
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        var result = Z_OK
        try bytes.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            repeat {
                let count = try part.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    result = inflate(&stream, Z_SYNC_FLUSH)
                    guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else { throw Malformed() }
                    return output.count - Int(stream.avail_out)
                }
                content += part[..<count]
            } while result == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0)
        }
        guard stream.avail_in == 0 else { throw Malformed() }
        self.content = content
        isComplete = result == Z_STREAM_END
    }
}
