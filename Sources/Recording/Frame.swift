/// A frame of the file. A recording is a header and frames; each frame can be checked without the others, numbers have
/// their lowest byte first:
///
///     header  4C 53 52 45 43 01 0D 0A                    "LSREC", version 1, CR LF
///     frame   kind │ length │ CRC-32 of kind and length │ CRC-32 of the content │ content
///             1      3        4                           4                       length
///
///     kind 53 "S"   a segment begins: start │ mode │ adapter set │ Data Adapter │ items │ fields
///                                     8       text   optional      optional       texts   texts
///     kind 42 "B"   a block of the segment's events: length │ deflated columns, see `BlockColumn`
///
/// An optional text is a list of no text or one; a list is its count and its texts. Blocks refer to values of earlier
/// blocks of the same segment. A file that ends within a frame was interrupted.
struct Frame {
    /// The content of a frame.
    enum Kind: UInt8 {
        case segment = 0x53
        case block = 0x42
    }

    static let fileHeader: [UInt8] = [0x4C, 0x53, 0x52, 0x45, 0x43, 1, 0x0D, 0x0A]
    /// The length of a frame without its content.
    static let headerLength = 12
    /// The greatest length of the content.
    static let mostContent = (1 << 24) - 1
    /// The greatest length of a block before it was deflated.
    static let mostColumns = 1 << 27

    let kind: Kind
    let length: Int
    private let checksum: UInt32

    /// Parses the header of a frame.
    init(header: ArraySlice<UInt8>) throws(ContentViolation) {
        let bytes = Array(header)
        guard Compression.checksum(bytes[..<4]) == Self.number(bytes[4..<8]) else {
            throw ContentViolation("the checksum of a frame's header is wrong")
        }
        guard let kind = Kind(rawValue: bytes[0]) else { throw ContentViolation("a frame has an unknown kind") }
        self.kind = kind
        length = Int(Self.number(bytes[1..<4]))
        checksum = Self.number(bytes[8..<12])
    }

    /// Whether the content is unchanged since it was written.
    func holds(_ content: [UInt8]) -> Bool { Compression.checksum(content) == checksum }

    /// The bytes of a frame; nil if the content is too long.
    static func bytes(_ kind: Kind, _ content: [UInt8]) -> [UInt8]? {
        guard content.count <= mostContent else { return nil }
        let head = [kind.rawValue] + bytes(UInt32(content.count)).prefix(3)
        return head + bytes(Compression.checksum(head)) + bytes(Compression.checksum(content)) + content
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension Frame {
    /// The content of a segment's frame.
    static func content(of segment: RecordedSegment) -> [UInt8] {
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: segment.start >> (8 * $0)) }
        bytes.append(text: segment.mode)
        let lists = [
            [segment.adapterSet].compactMap(\.self), [segment.dataAdapter].compactMap(\.self), segment.items,
            segment.fields,
        ]
        for list in lists {
            bytes.append(number: list.count)
            for text in list { bytes.append(text: text) }
        }
        return bytes
    }

    /// The segment of a frame's content.
    static func segment(_ content: [UInt8]) throws(ContentViolation) -> RecordedSegment {
        var reader = ByteReader(content[...])
        let start = try reader.bytes(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let mode = try reader.text()
        guard ["MERGE", "DISTINCT", "COMMAND", "RAW"].contains(mode) else {
            throw ContentViolation("the mode of a segment is not MERGE, DISTINCT, COMMAND or RAW")
        }
        var lists: [[String]] = []
        for longest in [1, 1, content.count, content.count] {
            let count = try reader.number(upTo: longest, "the length of a list")
            var list: [String] = []
            for _ in 0..<count { list.append(try reader.text()) }
            lists.append(list)
        }
        guard !lists[2].isEmpty, !lists[3].isEmpty, reader.isAtEnd else {
            throw ContentViolation("a segment has no items or no fields, or is too long")
        }
        guard lists[2].count * lists[3].count <= RecordedSegment.mostValues else {
            throw ContentViolation("a segment has too many items and fields")
        }
        return RecordedSegment(
            start: Int64(bitPattern: start),
            adapterSet: lists[0].first,
            dataAdapter: lists[1].first,
            mode: mode,
            items: lists[2],
            fields: lists[3]
        )
    }

    /// The content of a block's frame.
    static func content(ofBlock columns: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(number: columns.reduce(0) { $0 + $1.count })
        return bytes + Compression.deflated(columns)
    }

    /// The columns of a block's frame.
    static func columns(_ content: [UInt8]) throws(ContentViolation) -> [UInt8] {
        var reader = ByteReader(content[...])
        let length = try reader.number(upTo: mostColumns, "the length of a block")
        guard let columns = Compression.inflated(try reader.bytes(reader.count), length: length) else {
            throw ContentViolation("a block cannot be inflated to its length")
        }
        return columns
    }
}
