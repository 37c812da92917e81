/// The chunked transfer coding (RFC 9112, section 7.1).
///
///     1a CR LF  <26 bytes>  CR LF       one chunk: its length in hexadecimal, its bytes
///     0 CR LF CR LF                     the end
package enum ChunkFraming {
    /// The empty chunk that ends a body.
    package static let lastChunk: [UInt8] = Array("0\r\n\r\n".utf8)

    /// One chunk around the payload; nothing for an empty payload, which would end the body.
    package static func chunk(_ payload: some Collection<UInt8>) -> [UInt8] {
        guard !payload.isEmpty else { return [] }
        var bytes = Array(String(payload.count, radix: 16).utf8)
        bytes.reserveCapacity(bytes.count + payload.count + 4)
        bytes += [0x0D, 0x0A]
        bytes += payload
        bytes += [0x0D, 0x0A]
        return bytes
    }
}
