/// The parts of an event without the values: the kind, and the fields of a row that differ from the preceding row of the
/// item. Most events have one of a few shapes.
struct EventShape: Hashable {
    /// The kinds, as they are written.
    enum Kind: UInt8 {
        case row = 0
        case snapshotRow = 1
        case endOfSnapshot = 2
        case cleared = 3
        case lost = 4
        case restarted = 5
    }

    let kind: Kind
    /// A bit for each field of a row, the lowest one first; empty for other kinds.
    let mask: [UInt8]

    init(kind: Kind, mask: [UInt8] = []) {
        self.kind = kind
        self.mask = mask
    }

    /// Reads a shape; `fieldCount` determines the length of the mask.
    init(from reader: inout ByteReader, fieldCount: Int) throws(ContentViolation) {
        guard let kind = Kind(rawValue: try reader.byte()) else {
            throw ContentViolation("an event has an unknown kind")
        }
        let isRow = kind == .row || kind == .snapshotRow
        let mask = isRow ? Array(try reader.bytes(Self.maskLength(fieldCount))) : []
        if let last = mask.last, fieldCount % 8 != 0, last >> (fieldCount % 8) != 0 {
            throw ContentViolation("a row has more values than fields")
        }
        self.init(kind: kind, mask: mask)
    }

    func write(to bytes: inout [UInt8]) {
        bytes.append(kind.rawValue)
        bytes += mask
    }

    static func maskLength(_ fieldCount: Int) -> Int { (fieldCount + 7) / 8 }

    /// Whether the row has a value for a field.
    func has(_ field: Int) -> Bool { mask[field / 8] & (1 << (field % 8)) != 0 }
}

/// The shapes that were written in full, by number. Writer and reader keep the same ones.
struct ShapeTable {
    /// With more shapes than this the table begins anew.
    private static let capacity = 4_096

    private var shapes: [EventShape] = []
    private var numbers: [EventShape: Int] = [:]

    /// The number of shapes; as the shape number of an event, announces a new shape.
    var count: Int { shapes.count }

    /// The number of a shape; nil for a new shape.
    func number(of shape: EventShape) -> Int? { numbers[shape] }

    func shape(_ number: Int) -> EventShape? { number < shapes.count ? shapes[number] : nil }

    mutating func add(_ shape: EventShape) {
        if shapes.count == Self.capacity {
            shapes.removeAll()
            numbers.removeAll()
        }
        numbers[shape] = shapes.count
        shapes.append(shape)
    }
}
