/// Removes the chunked transfer coding.
enum ChunkReader {
    struct Malformed: Error {}

    static func payload(of bytes: [UInt8]) throws -> [UInt8] {
        var payload: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: 0x0D), end + 1 < rest.endIndex, rest[end + 1] == 0x0A,
                let count = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16),
                rest.count >= end - rest.startIndex + 2 + count + 2
            else { throw Malformed() }
            let start = end + 2
            payload += rest[start..<start + count]
            guard rest[start + count] == 0x0D, rest[start + count + 1] == 0x0A else { throw Malformed() }
            rest = rest[(start + count + 2)...]
        }
        return payload
    }
}
