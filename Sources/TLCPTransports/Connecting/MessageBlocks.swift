/// A message padded and cut into blocks of sixteen 32-bit words, as SHA-1 and SHA-256 both want it.
struct MessageBlocks: Sequence, IteratorProtocol {
    private let padded: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        var padded = bytes
        padded.append(0x80)
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) &* 8
        padded +=
            UInt32(truncatingIfNeeded: bits >> 32).bigEndianBytes + UInt32(truncatingIfNeeded: bits).bigEndianBytes
        self.padded = padded
    }

    mutating func next() -> [UInt32]? {
        guard offset < padded.count else { return nil }
        defer { offset += 64 }
        return (0..<16).map { index in
            padded[(offset + index * 4)..<(offset + index * 4 + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

extension UInt32 {
    var bigEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * UInt32($0))) } }

    func rotated(right count: UInt32) -> UInt32 { self >> count | self << (32 - count) }
}
