internal import Primitives

/// A checksum of bytes: 64 bits, made of eight bytes at a time. Any change of one of these words changes the checksum.
enum Checksum {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The checksum of bytes after a start value, for instance the checksum of the bytes before them.
    static func of(_ bytes: ArraySlice<UInt8>, after start: UInt64 = 0) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var sum = start ^ UInt64(bytes.count)
            var index = 0
            while index + 8 <= bytes.count {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)), to: &sum)
                index += 8
            }
            var rest: UInt64 = 0
            for byte in bytes[index...].reversed() { rest = rest << 8 | UInt64(byte) }
            add(rest, to: &sum)
            return SplitMix64.mixed(sum)
        }
    }

    private static func add(_ word: UInt64, to sum: inout UInt64) {
        sum = (sum ^ word) &* factor
        sum ^= sum >> 32
    }
}

/// A running digest of the log: equal for two members only if they have read equal bytes at equal positions, in the same
/// order, since the beginning of the epoch.
package struct LogDigest: Sendable, Equatable {
    /// The present value.
    package internal(set) var value: UInt64 = 0

    /// A digest of no frames.
    init() {}

    /// A digest that continues a value.
    init(value: UInt64) { self.value = value }

    /// Adds the frame of a position, by the checksum of its bytes.
    mutating func add(_ sum: UInt64, at position: UInt64) {
        value = SplitMix64.mixed(value ^ (SplitMix64.mixed(position) &+ sum))
    }
}

/// The digests of the log up to each of the last positions that this member has read.
struct RecentDigests: Sendable {
    private static let limit: UInt64 = 4096

    /// The digests; that of a position has the index of its remainder by the limit.
    private var values = [LogDigest](repeating: LogDigest(), count: Int(RecentDigests.limit))
    private var first: UInt64 = 0
    private var last: UInt64 = 0

    /// Begins at a position.
    mutating func restart(with digest: LogDigest, at position: UInt64) {
        first = position
        last = position
        values[Int(position % Self.limit)] = digest
    }

    /// Adds the digest of the position after the last one.
    mutating func append(_ digest: LogDigest, at position: UInt64) {
        last = position
        if last - first >= Self.limit { first = last - Self.limit + 1 }
        values[Int(position % Self.limit)] = digest
    }

    /// The digest up to a position; nil if the position is not among the last ones.
    subscript(position: UInt64) -> LogDigest? {
        position >= first && position <= last ? values[Int(position % Self.limit)] : nil
    }
}

/// The proof that two logs exist: members have read different bytes, or in another order, up to the same position.
package struct LogDivergence: Sendable, Equatable {
    /// The position up to which the digests differ.
    package let position: UInt64
    /// The digest that follows from the frames that this member has read.
    package let own: UInt64
    /// The digest of the other log.
    package let other: UInt64
    /// The member that has read the other log; nil if the engine has delivered both to this member.
    package let member: UInt64?
}
