internal import Primitives

/// One message of the log.
///
///     magic 'L' · format u8 · checksum u64 · kind u8 · member u64 · epoch u64 · previous u64 · digest u64 · counter u64
///     · records
///     record: length varint · tag u8 · body
///
/// The checksum is that of all other bytes.
struct ClusterFrame: Sendable, Equatable {
    enum Kind: UInt8, Sendable {
        /// Records of a member, valid only while it belongs to the cluster.
        case records = 0
        /// The beginning of an epoch: all earlier messages lose their effect.
        case epoch = 2
    }

    /// The first format with this header.
    fileprivate static let firstFormat: UInt8 = 2
    fileprivate static let magic = UInt8(ascii: "L")
    /// The bytes before the checksum, and those up to its end.
    fileprivate static let prefixLength = 2
    fileprivate static let checksumEnd = 10

    /// The format of its records.
    var format = Formats.supported.newest
    var kind = Kind.records
    var member: UInt64
    /// The epoch of the writer; for a beginning, the new one.
    var epoch: UInt64
    /// The newest position that the writer has applied.
    var previous: UInt64
    /// The digest of the log up to `previous`, from the frames that the writer has read; 0 for a beginning.
    var digest: UInt64 = 0
    /// Counts the frames of the member within the epoch, from 1.
    var counter: UInt64 = 0
    /// The encoded records.
    var payload: ArraySlice<UInt8>
}

extension ClusterFrame {
    /// Parses a frame without its checksum; nil for other bytes. The format of its records need not be known.
    init?(_ bytes: [UInt8]) {
        guard Self.hasChecksum(bytes), var frame = try? Self.content.value(bytes[Self.checksumEnd...])
        else { return nil }
        frame.format = bytes[1]
        self = frame
    }

    var bytes: [UInt8] {
        let (prefix, rest) = ([Self.magic, format], Self.content.bytes(self))
        let sum = Checksum.of(rest[...], after: Checksum.of(prefix[...]))
        return prefix + Wire<UInt64>.fixed64.bytes(sum) + rest
    }

    /// Whether bytes begin as those of a frame, whatever follows the checksum.
    fileprivate static func hasChecksum(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= checksumEnd, bytes[0] == magic, bytes[1] >= firstFormat else { return false }
        return true
    }

    /// The fields after the checksum.
    private static let content = Wire<Self>(
        { ClusterFrame(kind: $0, member: $1, epoch: $2, previous: $3, digest: $4, counter: $5, payload: $6) },
        (\.kind, .raw(.byte)),
        (\.member, .fixed64),
        (\.epoch, .fixed64),
        (\.previous, .fixed64),
        (\.digest, .fixed64),
        (\.counter, .fixed64),
        (\.payload, .rest)
    )
}

/// The formats of messages between members that a build reads and writes, by their numbers.
///
/// In every message, the order of the fields is the format; the tests have the bytes of each format. A format adds to the
/// one before it:
///
/// - Records and changed records get new tags. Tags are never reused, and a member skips a record with an unknown tag. A record
///   that has no effect unless all members have one version needs no new format.
/// - The header of a frame up to its counter, a frame that begins an epoch, and the fields of a heartbeat stay the same, so
///   that members of all formats can read them. New fields of a heartbeat come last.
///
/// A member states its formats when it joins. Members write the newest format that all members read, and a frame of another
/// format has no effect on any of them. A process that shares no format with the members does not join.
///
/// Format 1, without checksums and encryption, was that of version 1.0.0; no build reads it any more. Format 3 is one of the state for
/// joining members alone (see `ofState`): no other message has this number.
package struct Formats: Sendable, Hashable {
    /// The oldest format that is read.
    package let oldest: UInt8
    /// The newest format that is read and written.
    package let newest: UInt8

    /// The formats of this build.
    package static let supported = Formats(2, 2)

    /// The first format in which the state for joining members has what is older than the log that they read.
    static let ofPast: UInt8 = 3

    /// The formats of the state for joining members, of a build with these formats. Members agree on them by the request for the
    /// state: members of all other builds may have others.
    package var ofState: Formats { Formats(oldest, max(newest, Self.ofPast)) }

    /// The formats from one number to another.
    package init(_ oldest: UInt8, _ newest: UInt8) {
        precondition(oldest > 0 && oldest <= newest, "no formats")
        self.oldest = oldest
        self.newest = newest
    }

    /// Whether a format is among them.
    package func contains(_ format: UInt8) -> Bool { format >= oldest && format <= newest }

    /// The formats that are among both; nil: none.
    package func common(with other: Formats) -> Formats? {
        let (oldest, newest) = (max(oldest, other.oldest), min(newest, other.newest))
        return oldest <= newest ? Formats(oldest, newest) : nil
    }

    /// The bytes with which, for instance, a joining member requests the state.
    package static let wire = Wire<Self>(
        { (oldest: UInt8, newest: UInt8) throws(CodingError) in
            guard oldest > 0, oldest <= newest else { throw .malformed }
            return Formats(oldest, newest)
        },
        (\.oldest, .byte),
        (\.newest, .byte)
    )
}

/// A message of the log as a member reads it: parsed once for all decisions about it.
struct LogEntry: Sendable {
    let position: UInt64
    let size: Int
    /// The checksum of the bytes, for a frame without its own checksum.
    let sum: UInt64
    /// The checksum that the frame states, if that is not `sum`: the engine has changed the frame.
    let wrongSum: UInt64?
    /// The frame; nil for other bytes.
    let frame: ClusterFrame?

    init(_ stored: StoredFrame) {
        let bytes = stored.bytes
        position = stored.position
        size = bytes.count
        frame = ClusterFrame(bytes)
        let (end, prefix) = (ClusterFrame.checksumEnd, ClusterFrame.prefixLength)
        guard ClusterFrame.hasChecksum(bytes), let stated = try? Wire<UInt64>.fixed64.value(bytes[prefix..<end]) else {
            (sum, wrongSum) = (Checksum.of(bytes[...]), nil)
            return
        }
        sum = Checksum.of(bytes[end...], after: Checksum.of(bytes[..<prefix]))
        wrongSum = stated == sum ? nil : stated
    }
}

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
