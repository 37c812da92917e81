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
