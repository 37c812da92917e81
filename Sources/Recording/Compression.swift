internal import CZlib

/// Raw deflate (RFC 1951) of the parts of a block: each part has Huffman codes of its own.
enum Compression {
    // The defaults of zlib for window and memory, without header and trailer.
    private static let windowBits: Int32 = -15
    private static let memoryLevel: Int32 = 9
    private static let effort: Int32 = 6
    /// The most bytes that the end of a part needs.
    private static let partMargin = 64

    /// Compresses parts into one stream.
    static func deflated(_ parts: [[UInt8]]) -> [UInt8] {
        let stream = newStream()
        defer { stream.deallocate() }
        let result = deflateInit2_(
            stream,
            effort,
            Z_DEFLATED,
            windowBits,
            memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(result == Z_OK, "zlib has no memory, or another version than its header")
        defer { deflateEnd(stream) }
        let length = parts.reduce(0) { $0 + $1.count + partMargin }
        let capacity = Int(deflateBound(stream, uLong(length))) + partMargin
        return [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            stream.pointee.next_out = memory.baseAddress
            stream.pointee.avail_out = UInt32(capacity)
            for (index, part) in parts.enumerated() {
                part.withUnsafeBufferPointer { part in
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: part.baseAddress)
                    stream.pointee.avail_in = UInt32(part.count)
                    let result = deflate(stream, index == parts.count - 1 ? Z_FINISH : Z_BLOCK)
                    // Z_BUF_ERROR: an empty part, which has nothing to end.
                    precondition(result >= Z_OK || result == Z_BUF_ERROR, "the bound of zlib holds the output")
                }
            }
            count = capacity - Int(stream.pointee.avail_out)
        }
    }

    /// Decompresses a stream; nil unless it is complete, has nothing behind it, and has this length.
    static func inflated(_ bytes: ArraySlice<UInt8>, length: Int) -> [UInt8]? {
        let stream = newStream()
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { inflateEnd(stream) }
        var isWhole = false
        // One more byte, so that a longer stream does not fit exactly.
        let content = [UInt8](unsafeUninitializedCapacity: length + 1) { memory, count in
            bytes.withUnsafeBufferPointer { bytes in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(bytes.count)
                stream.pointee.next_out = memory.baseAddress
                stream.pointee.avail_out = UInt32(length + 1)
                isWhole =
                    inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
                    && stream.pointee.avail_out == 1
            }
            count = length + 1 - Int(stream.pointee.avail_out)
        }
        return isWhole ? content : nil
    }

    /// A stream of zlib, which keeps its address.
    private static func newStream() -> UnsafeMutablePointer<z_stream> {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        return stream
    }

    static func checksum(_ bytes: some Collection<UInt8>) -> UInt32 {
        let sum = bytes.withContiguousStorageIfAvailable { bytes in
            UInt32(crc32_z(0, bytes.baseAddress, z_size_t(bytes.count)))
        }
        return sum ?? checksum(Array(bytes))
    }
}
