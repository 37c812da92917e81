/// The last argument of `U`, in wire format. `ItemRow` decodes it, `RowEncoder` encodes it.
///
///     list  = token *( "|" token )
///     token = ""         this field unchanged        "^4"      this and the next three unchanged
///             "#" "$"    null, empty                 "^P…"     JSON Patch of the present value
///             other      the value, escaped          "^T…"     TLCP-diff of the present value
package struct FieldList: Sendable, Hashable {
    /// The bytes, a slice of the line.
    package let bytes: ArraySlice<UInt8>

    /// Wraps the bytes of a line.
    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }
}

/// The effect of one field list on a row.
package struct RowChange: Sendable, Hashable {
    /// The positions of the fields whose value changed; all of them in the first update of an item.
    package var changed: FieldSet
    /// The JSON Patch for each field held as a document: as sent by the server, or `[]` for an unchanged field.
    package var patches: [Int: String]

    /// A change.
    package init(changed: FieldSet = FieldSet(), patches: [Int: String] = [:]) {
        self.changed = changed
        self.patches = patches
    }
}
