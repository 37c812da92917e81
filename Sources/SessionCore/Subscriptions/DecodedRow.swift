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
