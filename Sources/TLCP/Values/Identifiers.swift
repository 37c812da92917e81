/// The server's name for a session; opaque.
package struct SessionID: Sendable, Hashable, CustomStringConvertible {
    /// The text as it goes on the wire.
    package let rawValue: String

    /// Wraps a text.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// The text.
    package var description: String { rawValue }
}

/// The client's number for a subscription, unique within a session; positive.
package struct SubscriptionID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number as it goes on the wire.
    package let rawValue: Int

    /// Wraps a number.
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The number as text.
    package var description: String { String(rawValue) }

    /// Order by number.
    package static func < (left: SubscriptionID, right: SubscriptionID) -> Bool { left.rawValue < right.rawValue }
}

/// The client's name for a control or message request, echoed in its response; ASCII letters and digits.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// The text as it goes on the wire.
    package let rawValue: String

    /// Wraps a text.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// An identifier made of a number, as clients count them.
    package init(_ number: Int) { rawValue = String(number) }

    /// The text.
    package var description: String { rawValue }

    /// Whether the text is one or more ASCII letters and digits.
    package var isWellFormed: Bool { !rawValue.isEmpty && rawValue.utf8.allSatisfy(\.isASCIIAlphanumeric) }
}
