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
    package var bytes: [UInt8] { [oldest, newest] }

    /// Reads the bytes of a request for the state; nil for other bytes.
    package init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes[...])
        guard let formats = try? reader.formats(), reader.remaining == 0 else { return nil }
        self = formats
    }
}

extension Formats: CustomStringConvertible {
    package var description: String { oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)" }
}

extension ByteWriter {
    mutating func formats(_ formats: Formats) {
        byte(formats.oldest)
        byte(formats.newest)
    }

    /// A writer of content that states its format, such as a call or a ticket. Content with a layout of its own in a newer
    /// format is written in the format that the members write.
    static func stating(_ format: UInt8 = Formats.supported.newest) -> ByteWriter {
        var writer = ByteWriter()
        writer.byte(format)
        return writer
    }
}

extension ByteReader {
    mutating func formats() throws(CodingError) -> Formats {
        let (oldest, newest) = (try byte(), try byte())
        guard oldest > 0, oldest <= newest else { throw .malformed }
        return Formats(oldest, newest)
    }

    /// A reader of content that states its format. Throws for a format that is not among some.
    static func stating(_ bytes: [UInt8], among formats: Formats = .supported) throws(CodingError) -> ByteReader {
        var reader = ByteReader(bytes[...])
        guard formats.contains(try reader.byte()) else { throw .malformed }
        return reader
    }
}
