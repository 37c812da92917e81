internal import JSONText
internal import TLCP

/// The state of one item: the row that deltas refer to, the snapshot's phase, and in COMMAND mode the rows by key.
///
/// The row is the last one of the item, of any key. Neither `CS` nor `EOS` changes it.
struct ItemState: Sendable {
    /// Whether `EOS` was received.
    var hasSnapshotEnded = false
    /// COMMAND only: the rows by key.
    var table = CommandTable()
    private var row: ItemRow?

    /// Whether no update has been received yet.
    var isFirst: Bool { row == nil }

    /// Decodes an update with `count` fields, relative to the previous row.
    mutating func decode(_ fields: FieldList, count: Int) throws(ProtocolViolation) -> DecodedRow {
        do throws(TLCPError) {
            if row == nil { row = ItemRow(fieldCount: count) }
            guard let change = try row?.apply(fields), let values = row?.values else {
                return DecodedRow(values: [], changed: FieldSet())
            }
            return DecodedRow(values: values, changed: change.changed, patches: change.patches)
        } catch {
            throw ProtocolViolation(reason: error.description)
        }
    }
}

/// A complete row, decoded against the one before it.
struct DecodedRow: Sendable, Equatable {
    /// The values of all fields.
    var values: [String?]
    /// The positions whose values differ from the row before; all of them in an item's first row.
    var changed: FieldSet
    /// The JSON Patches by position; `[]` for a field held as JSON and unchanged.
    var patches: [Int: String] = [:]
    /// Whether the row belongs to the item's snapshot.
    var isSnapshot = false
}

extension [String?] {
    /// The row with one value replaced; the same row if it has that value already.
    func replacing(_ position: Int, by value: String) -> [String?] {
        if self[position - 1] == value { return self }
        var row = self
        row[position - 1] = value
        return row
    }

    /// The positions whose values differ from those of another row of the same width; null and "" differ.
    func differences(from other: [String?]) -> FieldSet {
        var changed = FieldSet()
        for index in indices where index >= other.count || !Self.isSame(self[index], other[index]) {
            changed.insert(index + 1)
        }
        return changed
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.hasSameBytes(as: right)
        case (nil, _?), (_?, nil): false
        }
    }
}
