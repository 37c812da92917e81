internal import JSONText
internal import Primitives

/// The JSON of all values of a subscription, with a gap for the age of each item: ages differ between readings of equal
/// values.
///
///     bytes   {"subscription":"s1","items":[{…,"age":,"stale":false},{…,"age":,"stale":false}]}
///     gaps                                           ↑                      ↑
struct EncodedTable: Sendable {
    struct Gap: Sendable {
        /// The number of bytes before the age.
        let place: Int
        /// When the item changed last; nil without data.
        let changedAt: Moment?
    }

    /// The JSON without the ages.
    let bytes: [UInt8]
    let gaps: [Gap]

    /// The length of the JSON at a moment, in bytes.
    func length(at now: Moment) -> Int {
        gaps.reduce(bytes.count) { $0 + JSONBytes.length(ofAgeSince: $1.changedAt, at: now) }
    }

    func json(at now: Moment) -> [UInt8] {
        var json = JSONBytes(capacity: bytes.count + gaps.count * Self.usualAgeLength)
        var start = 0
        for gap in gaps {
            json.bytes += bytes[start..<gap.place]
            json.beginText()
            json.age(since: gap.changedAt, at: now)
            start = gap.place
        }
        json.bytes += bytes[start...]
        return json.bytes
    }

    /// The length that most ages do not exceed, in bytes.
    private static let usualAgeLength = 10
}

/// The tables that were encoded last, so that a table which is read more often than it changes is encoded once.
///
/// The tables are found by their entity tags. A tag names a subscription and its version, and equal versions mean equal values.
/// The caller's rights to a subscription are checked before its table is looked up. The memory is bounded by the number of
/// slots: a table replaces the one whose tag has the same slot.
final class EncodedTables: Sendable {
    enum Kept: Sendable {
        case whole(EncodedTable)
        /// The length without the ages, of a long table.
        case length(Int)
    }

    private static let slotCount = 256
    /// The length of the longest table that is kept as a whole, in bytes.
    private static let longest = 64 * 1024

    private let slots = RankedMutex([(tag: EntityTag, kept: Kept)?](repeating: nil, count: slotCount))

    /// The kept part of the table with a tag; nil: none.
    subscript(tag: EntityTag) -> Kept? {
        slots.withLock { slots in
            guard let present = slots[Self.slot(of: tag)], present.tag == tag else { return nil }
            return present.kept
        }
    }

    func keep(_ table: EncodedTable, tag: EntityTag) {
        let kept: Kept = table.bytes.count > Self.longest ? .length(table.bytes.count) : .whole(table)
        slots.withLock { $0[Self.slot(of: tag)] = (tag, kept) }
    }

    private static func slot(of tag: EntityTag) -> Int { Int(UInt(bitPattern: tag.hashValue) % UInt(slotCount)) }
}
