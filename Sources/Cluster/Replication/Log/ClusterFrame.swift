/// One message of the log.
///
///     magic 'L' · version u8 · kind u8 · member u64 · epoch u64 · previous u64 · counter u64 · records
///     record: length varint · tag u8 · body
package struct ClusterFrame: Sendable, Equatable {
    /// The kind of a message of the log.
    package enum Kind: UInt8, Sendable {
        /// Records of a member, valid only while it belongs to the cluster.
        case records = 0
        /// The beginning of an epoch: all earlier messages lose their effect.
        case epoch = 2
    }

    /// The highest version of the format that this build reads and writes.
    static let version: UInt8 = 1
    private static let magic = UInt8(ascii: "L")

    /// The kind.
    package var kind: Kind
    /// The member that wrote it.
    package var member: UInt64
    /// The epoch of the writer; for a beginning, the new one.
    package var epoch: UInt64
    /// The newest position that the writer has applied.
    package var previous: UInt64
    /// Counts the frames of the member within the epoch, from 1.
    package var counter: UInt64
    /// The encoded records.
    package var payload: ArraySlice<UInt8>

    /// A frame.
    package init(
        kind: Kind = .records,
        member: UInt64,
        epoch: UInt64,
        previous: UInt64,
        counter: UInt64,
        payload: ArraySlice<UInt8>
    ) {
        self.kind = kind
        self.member = member
        self.epoch = epoch
        self.previous = previous
        self.counter = counter
        self.payload = payload
    }

    /// Parses a frame; nil for other bytes, and for a version that this build does not know.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes[...])
        do throws(CodingError) {
            guard try reader.byte() == Self.magic, try reader.byte() == Self.version,
                let kind = Kind(rawValue: try reader.byte())
            else { return nil }
            self.kind = kind
            member = try reader.fixed64()
            epoch = try reader.fixed64()
            previous = try reader.fixed64()
            counter = try reader.fixed64()
            payload = try reader.raw(UInt64(reader.remaining))
        } catch {
            return nil
        }
    }

    /// The bytes that are appended to the log.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(Self.magic)
        writer.byte(Self.version)
        writer.byte(kind.rawValue)
        for value in [member, epoch, previous, counter] { writer.fixed64(value) }
        return writer.bytes + payload
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
