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
