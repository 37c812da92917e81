/// One message of the log.
///
///     magic 'L' · format u8 · checksum u64 · kind u8 · member u64 · epoch u64 · previous u64 · digest u64 · counter u64
///     · records
///     record: length varint · tag u8 · body
///
/// The checksum is that of all other bytes.
package struct ClusterFrame: Sendable, Equatable {
    /// The kind of a message of the log.
    package enum Kind: UInt8, Sendable {
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
    package var format: UInt8
    /// The kind.
    package var kind: Kind
    /// The member that wrote it.
    package var member: UInt64
    /// The epoch of the writer; for a beginning, the new one.
    package var epoch: UInt64
    /// The newest position that the writer has applied.
    package var previous: UInt64
    /// The digest of the log up to `previous`, from the frames that the writer has read; 0 for a beginning.
    package var digest: UInt64
    /// Counts the frames of the member within the epoch, from 1.
    package var counter: UInt64
    /// The encoded records.
    package var payload: ArraySlice<UInt8>

    /// A frame.
    package init(
        format: UInt8 = Formats.supported.newest,
        kind: Kind = .records,
        member: UInt64,
        epoch: UInt64,
        previous: UInt64,
        digest: UInt64,
        counter: UInt64,
        payload: ArraySlice<UInt8>
    ) {
        self.format = format
        self.kind = kind
        self.member = member
        self.epoch = epoch
        self.previous = previous
        self.digest = digest
        self.counter = counter
        self.payload = payload
    }

    /// Parses a frame without its checksum; nil for other bytes. The format of its records need not be known.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.checksumEnd, bytes[0] == Self.magic, bytes[1] >= Self.firstFormat,
            var frame = try? Wire<ClusterFrame>.content.value(bytes[Self.checksumEnd...])
        else { return nil }
        frame.format = bytes[1]
        self = frame
    }

    /// The bytes that are appended to the log.
    package var bytes: [UInt8] {
        let rest = Wire<ClusterFrame>.content.bytes(self)
        var writer = ByteWriter()
        writer.byte(Self.magic)
        writer.byte(format)
        writer.fixed64(Self.checksum(of: rest[...], after: writer.bytes[...]))
        return writer.bytes + rest
    }
}

extension Wire<ClusterFrame> {
    /// What follows the checksum.
    fileprivate static let content = Wire(
        {
            (
                kind: ClusterFrame.Kind,
                member: UInt64,
                epoch: UInt64,
                previous: UInt64,
                digest: UInt64,
                counter: UInt64,
                payload: ArraySlice<UInt8>
            ) in
            ClusterFrame(
                kind: kind,
                member: member,
                epoch: epoch,
                previous: previous,
                digest: digest,
                counter: counter,
                payload: payload
            )
        },
        (\.kind, .raw(.byte)),
        (\.member, .fixed64),
        (\.epoch, .fixed64),
        (\.previous, .fixed64),
        (\.digest, .fixed64),
        (\.counter, .fixed64),
        (\.payload, .rest)
    )
}

extension ClusterFrame {
    /// The checksum of the bytes after the checksum, and of those before it.
    fileprivate static func checksum(of rest: ArraySlice<UInt8>, after prefix: ArraySlice<UInt8>) -> UInt64 {
        Checksum.of(rest, after: Checksum.of(prefix))
    }
}

extension StoredFrame {
    /// The checksum of the bytes, for a frame of this format without its own checksum.
    var sum: UInt64 {
        guard let (prefix, _, rest) = parts else { return Checksum.of(bytes[...]) }
        return ClusterFrame.checksum(of: rest, after: prefix)
    }

    /// The checksum of a frame that differs from the checksum of its bytes; nil for all other bytes.
    func wrongChecksum(_ sum: UInt64) -> UInt64? {
        guard let (_, checksum, _) = parts, checksum != sum else { return nil }
        return checksum
    }

    private var parts: (prefix: ArraySlice<UInt8>, checksum: UInt64, rest: ArraySlice<UInt8>)? {
        let end = ClusterFrame.checksumEnd
        guard bytes.count >= end, bytes[0] == ClusterFrame.magic, bytes[1] >= ClusterFrame.firstFormat else {
            return nil
        }
        var reader = ByteReader(bytes[ClusterFrame.prefixLength..<end])
        guard let checksum = try? reader.fixed64() else { return nil }
        return (bytes[..<ClusterFrame.prefixLength], checksum, bytes[end...])
    }
}

/// A frame with its position in the log.
package struct StoredFrame: Sendable, Equatable {
    /// The position; the first one is 1.
    package let position: UInt64
    /// The message.
    package let bytes: [UInt8]

    /// A frame at a position.
    package init(position: UInt64, bytes: [UInt8]) {
        self.position = position
        self.bytes = bytes
    }
}

/// The identity of the data of a log: it changes when the log is deleted and created again.
package struct LogGeneration: Sendable, Equatable {
    /// The time, or another mark, of the log's creation: equal only for the same data.
    package var created: String
    /// The first position that is kept.
    package var first: UInt64
    /// The last position that was written.
    package var last: UInt64

    /// The state of a log.
    package init(created: String, first: UInt64, last: UInt64) {
        self.created = created
        self.first = first
        self.last = last
    }
}

/// The formats of messages between members that a build reads and writes, by their numbers.
///
/// In every message, the order of the fields is the format; the tests have the bytes of each format. A format adds to the
/// one before it:
///
/// - Records and changed records get new tags. Tags are never reused, and a member skips a record with an unknown tag.
/// - The header of a frame up to its counter, a frame that begins an epoch, and the fields of a heartbeat stay the same, so
///   that members of all formats can read them. New fields of a heartbeat come last.
///
/// A member states its formats when it joins. Members write the newest format that all members read, and a frame of another
/// format has no effect on any of them. A process that shares no format with the members does not join.
///
/// Format 1, without checksums and encryption, was that of version 1.0.0; no build reads it any more.
package struct Formats: Sendable, Hashable {
    /// The oldest format that is read.
    package let oldest: UInt8
    /// The newest format that is read and written.
    package let newest: UInt8

    /// The formats of this build.
    package static let supported = Formats(2, 2)

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

    /// The bytes with which a joining member requests the state.
    package var bytes: [UInt8] { Wire<Formats>.formats.bytes(self) }

    /// Reads the bytes of a request for the state; nil for other bytes.
    package init?(_ bytes: [UInt8]) {
        guard let formats = try? Wire<Formats>.formats.value(bytes) else { return nil }
        self = formats
    }
}

extension Formats: CustomStringConvertible {
    package var description: String { oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)" }
}

extension Wire<Formats> {
    static let formats = Wire(
        { (oldest: UInt8, newest: UInt8) throws(CodingError) in
            guard oldest > 0, oldest <= newest else { throw .malformed }
            return Formats(oldest, newest)
        },
        (\.oldest, .byte),
        (\.newest, .byte)
    )
}
