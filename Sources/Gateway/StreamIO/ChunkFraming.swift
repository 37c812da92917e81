/// The chunked transfer coding (RFC 9112, section 7.1).
///
///     1a CR LF  <26 bytes>  CR LF       one chunk: its length in hexadecimal, its bytes
///     0 CR LF CR LF                     the end
package enum ChunkFraming {
    /// The empty chunk that ends a body.
    package static let lastChunk: [UInt8] = Array("0\r\n\r\n".utf8)

    /// The most bytes that framing adds to a payload: 16 digits of its length and two line ends.
    package static let overhead = 16 + 4

    /// A chunk with a payload, which must not be empty.
    package static func chunk(of payload: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: payload.count + overhead) { memory, count in
            guard let start = memory.baseAddress else { return }
            count = write(payload, to: UnsafeMutableRawPointer(start)).chunk.count
        }
    }

    /// Writes a chunk around a payload, which must not be empty: an empty chunk would end the body.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the chunk.
    ///   - memory: Where to write; `payload.count + overhead` bytes have to be free there.
    /// - Returns: Where the chunk and the payload in it lie, as offsets from `memory`.
    package static func write(
        _ payload: [UInt8],
        to memory: UnsafeMutableRawPointer
    ) -> (chunk: Range<Int>, payload: Range<Int>) {
        var used = 0
        func append(_ byte: UInt8) {
            memory.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
            used += 1
        }
        func appendLineEnd() {
            append(0x0D)
            append(0x0A)
        }
        var shift = max(0, (Int.bitWidth - payload.count.leadingZeroBitCount - 1) / 4) * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: (payload.count >> shift) & 15)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
        appendLineEnd()
        let start = used
        payload.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { (memory + used).copyMemory(from: base, byteCount: bytes.count) }
        }
        used += payload.count
        appendLineEnd()
        return (0..<used, start..<start + payload.count)
    }
}
