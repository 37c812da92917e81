internal import JSONText

/// The identifier that the server assigns to a session; opaque.
package struct SessionID: Sendable, Hashable, CustomStringConvertible {
    /// The text on the wire.
    package let rawValue: String

    /// Wraps a text.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The text.
    package var description: String { rawValue }
}

/// The number that the client assigns to a subscription, unique within a session; positive.
package struct SubscriptionID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number on the wire.
    package let rawValue: Int

    /// Wraps a number.
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The number as text.
    package var description: String { String(rawValue) }

    /// Order by number.
    package static func < (left: SubscriptionID, right: SubscriptionID) -> Bool { left.rawValue < right.rawValue }
}

/// The identifier that the client assigns to a control or message request and the response echoes; ASCII letters and
/// digits.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// The text on the wire.
    package let rawValue: String

    /// Wraps a text.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The identifier with the digits of a number.
    package init(_ number: Int) { rawValue = String(number) }

    /// The text.
    package var description: String { rawValue }

    /// Whether the text is one or more ASCII letters and digits.
    package var isWellFormed: Bool { !rawValue.isEmpty && rawValue.utf8.allSatisfy(\.isASCIIAlphanumeric) }
}

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
        guard count == other.count else { return false }
        for (name, otherName) in zip(self, other) where !name.hasSameBytes(as: otherName) { return false }
        return true
    }
}
