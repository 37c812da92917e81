/// The last argument of `U`, as it stands on the wire. `ItemRow` decodes it, `RowEncoder` makes it.
///
///     list  = token *( "|" token )
///     token = ""         this field unchanged        "^4"      this and the next three unchanged
///             "#" "$"    null, empty                 "^P…"     JSON Patch of the present value
///             other      the value, escaped          "^T…"     TLCP-diff of the present value
package struct FieldList: Sendable, Hashable {
    /// The bytes, a part of the line.
    package let bytes: ArraySlice<UInt8>

    /// Wraps the bytes of a line.
    package init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Wraps the bytes of a text.
    package init(_ text: String) { bytes = Array(text.utf8)[...] }
}

extension ArraySlice<UInt8> {
    /// Whether a line starts with `U,`.
    var isUpdateLine: Bool {
        count >= 2 && self[startIndex] == UInt8(ascii: "U") && self[startIndex + 1] == UInt8(ascii: ",")
    }
}
