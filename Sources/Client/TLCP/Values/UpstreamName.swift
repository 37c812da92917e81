internal import JSONText

/// A name whose identity is its UTF-8 bytes, as for the server: an item, field, key, group, schema, adapter or user.
///
/// `String` does not serve as a key for such names, because its `==` also equates canonically equivalent texts, which
/// the server keeps apart.
package struct UpstreamName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The text of the name.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) { self.text = text }

    /// Wraps a literal.
    package init(stringLiteral text: String) { self.text = text }

    /// The text of the name.
    package var description: String { text }

    /// Equal bytes.
    package static func == (left: UpstreamName, right: UpstreamName) -> Bool { left.text.hasSameBytes(as: right.text) }

    /// Feeds the bytes to a hasher.
    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    /// The names of a group or schema, which the server splits at the byte 0x20; empty names are kept.
    package static func split(_ list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}

extension [String] {
    /// The index of the first name with the same bytes.
    package func firstIndex(ofName name: String) -> Int? { firstIndex { $0.hasSameBytes(as: name) } }

    /// Whether both lists hold the same names in the same order, compared by bytes.
    package func hasSameNames(as other: [String]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}
