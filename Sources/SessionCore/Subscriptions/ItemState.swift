internal import TLCP

/// What a subscription knows of one item: the row that deltas refer to, the snapshot's phase, and in COMMAND mode the
/// rows by key.
///
/// The row is the last one of the item whatever its key. Neither `CS` nor `EOS` touches it.
struct ItemState: Sendable {
    /// Whether `EOS` was received.
    var hasSnapshotEnded = false
    /// COMMAND only: the rows by key.
    var table = CommandTable()
    private var row: ItemRow?

    /// Whether no update has been received yet.
    var isFirst: Bool { row == nil }

    /// Decodes an update of so many fields against the last one.
    mutating func decode(_ fields: FieldList, count: Int) throws(ProtocolViolation) -> DecodedRow {
        do throws(TLCPError) {
            if row == nil { row = ItemRow(fieldCount: count) }
            guard let change = try row?.apply(fields), let values = row?.values else {
                return DecodedRow(values: [], changed: FieldSet())
            }
            return DecodedRow(values: values, changed: FieldSet(change.changed), patches: change.patches)
        } catch {
            throw ProtocolViolation(reason: error.description)
        }
    }
}
