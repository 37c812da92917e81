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

/// Writes the frames of a member: each after the one before it was read back from the log.
struct FrameWriter: Sendable {
    /// A frame that was appended and not read from the log yet.
    private struct FrameInFlight {
        /// The number of the outbox's records up to its last one.
        let records: UInt64
        var frame: ClusterFrame
        let firstSentAt: Moment
        var sentAt: Moment
    }

    /// The maximum number of records of one frame, and their maximum size in bytes.
    private static let (frameRecords, frameBytes) = (256, 64 << 10)

    private var counter: UInt64 = 0
    private var inFlight: FrameInFlight?
    /// The number of the outbox's records that were taken for frames.
    private(set) var recordsTaken: UInt64 = 0
    /// The records of the machine, which are written before those of the outbox.
    var control: [ClusterRecord] = []
    /// The members whose removal was ordered.
    private(set) var removing: Set<UInt64> = []

    /// Whether the last frame was read from the log, so that the next one may be appended.
    var isIdle: Bool { inFlight == nil }

    /// When the frame in flight was sent first; nil: there is none.
    var waitingSince: Moment? { inFlight?.firstSentAt }

    /// Removes and returns the records of the next frame; nil if no record waits.
    ///
    /// - Parameters:
    ///   - isMember: Whether the process belongs to the cluster, so that it writes the records of the outbox.
    ///   - outbox: The reports of this process. Records of the machine that are too large for a frame are added.
    mutating func takeRecords(_ isMember: Bool, from outbox: inout Outbox) -> ArraySlice<UInt8>? {
        let own = takeControl(&outbox)
        if !own.isEmpty { return own }
        guard isMember, !outbox.isEmpty else { return nil }
        defer { recordsTaken = outbox.recordsFramed }
        return outbox.takeRecords(atMost: Self.frameRecords, bytes: Self.frameBytes)
    }

    /// The first of the machine's records, up to the limits of a frame but at least one. The outbox divides a record that is too
    /// large for a frame: the parts of two records must not mix.
    private mutating func takeControl(_ outbox: inout Outbox) -> ArraySlice<UInt8> {
        var (bytes, count): ([UInt8], Int) = ([], 0)
        for record in control.prefix(Self.frameRecords) {
            let body = record.body
            if body.count > Outbox.partSize {
                guard outbox.append(request: record) else { break }
            } else {
                let framed = ClusterRecord.framed(body)
                if !bytes.isEmpty, bytes.count + framed.count > Self.frameBytes { break }
                bytes += framed
            }
            count += 1
        }
        control.removeFirst(count)
        return bytes[...]
    }

    /// The bytes of a frame to append, which gets the next number.
    mutating func append(_ frame: ClusterFrame, at now: Moment) -> [UInt8] {
        counter += 1
        var frame = frame
        frame.counter = counter
        inFlight = FrameInFlight(records: recordsTaken, frame: frame, firstSentAt: now, sentAt: now)
        return frame.bytes
    }

    /// Whether a frame of the log is the one in flight.
    func isInFlight(_ frame: ClusterFrame?) -> Bool {
        guard let frame, let own = inFlight?.frame else { return false }
        return frame.member == own.member && frame.counter == own.counter
    }

    /// The frame in flight was read from the log. Returns the number of the outbox's records that the log has, and the time
    /// since the frame was sent first.
    mutating func read(at now: Moment) -> (records: UInt64, delay: Duration)? {
        inFlight.take().map { ($0.records, now - $0.firstSentAt) }
    }

    /// The bytes of the frame in flight, to append it again; nil if there is none, or if it was sent within `time`.
    ///
    /// - Parameter format: Another format of its records.
    mutating func repeated(after time: Duration = .zero, in format: UInt8? = nil, at now: Moment) -> [UInt8]? {
        guard let sentAt = inFlight?.sentAt, now - sentAt >= time else { return nil }
        inFlight?.sentAt = now
        if let format { inFlight?.frame.format = format }
        return inFlight?.frame.bytes
    }

    /// Orders the removal of a member, with the next frame: the other records may need several. The writer is a member, so that
    /// its `join` does not wait among them.
    mutating func remove(_ member: UInt64) {
        control.insert(.remove(member), at: 0)
        removing.insert(member)
    }

    mutating func removed(_ member: UInt64) { removing.remove(member) }

    /// The process becomes another member, whose frames are counted from 1.
    mutating func restart() { (counter, inFlight, control, removing) = (0, nil, [], []) }
}
