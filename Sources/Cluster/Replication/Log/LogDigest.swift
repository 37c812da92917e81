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

/// Orders the frames of the log, which may arrive late, twice, or not at all.
package struct LogReader: Sendable {
    /// The maximum number of frames that are kept after a gap; frames beyond it are fetched again.
    private static let bufferLimit = 4096

    /// The position of the last frame that was returned.
    package private(set) var position: UInt64
    /// The highest position that is known to be in the log.
    package private(set) var known: UInt64
    private var early: [UInt64: [UInt8]] = [:]

    /// A reader that continues after a position.
    package init(position: UInt64) {
        self.position = position
        known = position
    }

    /// Adds a frame. It, and the later ones that waited for it, are returned by `next`. False: it was there already, or
    /// there is no place for it.
    @discardableResult
    package mutating func arrived(_ frame: StoredFrame) -> Bool {
        known = max(known, frame.position)
        guard frame.position > position, early.count < Self.bufferLimit || frame.position == position + 1
        else { return false }
        return early.updateValue(frame.bytes, forKey: frame.position) == nil
    }

    /// Records that the log reaches this position.
    package mutating func reaches(_ position: UInt64) { known = max(known, position) }

    /// The next frame in order; nil while it is missing.
    package mutating func next() -> StoredFrame? {
        guard let bytes = early.removeValue(forKey: position + 1) else { return nil }
        position += 1
        return StoredFrame(position: position, bytes: bytes)
    }

    /// The missing positions of the log, up to the first frame that was received.
    package var gap: ClosedRange<UInt64>? {
        guard position < known, early[position + 1] == nil else { return nil }
        let last = early.keys.min().map { $0 - 1 } ?? known
        return position + 1...last
    }
}
