/// What one field list did to a row.
package struct RowChange: Sendable, Hashable {
    /// The positions of the fields whose value differs from the one before; in the first update of an item, all.
    package var changed: FieldPositions
    /// The JSON Patch of each field held as a document: what the server sent, or `[]` for a field it left unchanged.
    package var patches: [Int: String]

    /// A change.
    package init(changed: FieldPositions = FieldPositions(), patches: [Int: String] = [:]) {
        self.changed = changed
        self.patches = patches
    }
}
