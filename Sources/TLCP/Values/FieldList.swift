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

    /// Wraps the bytes of a text.
    package init(_ text: String) { bytes = Array(text.utf8)[...] }
}

extension ArraySlice<UInt8> {
    /// Whether a line starts with `U,`.
    var isUpdateLine: Bool {
        count >= 2 && self[startIndex] == UInt8(ascii: "U") && self[startIndex + 1] == UInt8(ascii: ",")
    }
}

/// A set of 1-based field positions; no allocation up to 64 fields.
package struct FieldPositions: Sendable, Hashable, Sequence {
    /// Positions 1 to 64, one bit for each.
    package private(set) var low: UInt64 = 0
    /// Positions from 65, 64 in each word; as many words as the greatest position needs.
    package private(set) var high: [UInt64] = []

    /// The empty set.
    package init() {}

    /// The positions from 1 to a count.
    package init(all count: Int) {
        guard count > 0 else { return }
        for position in 1...count { insert(position) }
    }

    /// Whether the set is empty.
    package var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Whether a position is in the set.
    package func contains(_ position: Int) -> Bool {
        let bit = position - 1
        if bit < 0 { return false }
        if bit < 64 { return low & (1 << UInt64(bit)) != 0 }
        let word = bit / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(bit % 64)) != 0
    }

    /// Adds a position, which must not be below 1.
    package mutating func insert(_ position: Int) {
        precondition(position > 0, "field positions count from 1")
        let bit = position - 1
        if bit < 64 {
            low |= 1 << UInt64(bit)
            return
        }
        let word = bit / 64 - 1
        while high.count <= word { high.append(0) }
        high[word] |= 1 << UInt64(bit % 64)
    }

    /// The positions in ascending order.
    package func makeIterator() -> some IteratorProtocol<Int> {
        (1...64 * (high.count + 1)).lazy.filter(contains).makeIterator()
    }
}

/// The effect of one field list on a row.
package struct RowChange: Sendable, Hashable {
    /// The positions of the fields whose value changed; all of them in the first update of an item.
    package var changed: FieldPositions
    /// The JSON Patch for each field held as a document: as sent by the server, or `[]` for an unchanged field.
    package var patches: [Int: String]

    /// A change.
    package init(changed: FieldPositions = FieldPositions(), patches: [Int: String] = [:]) {
        self.changed = changed
        self.patches = patches
    }
}
