/// The id of a client, as REST shows it.
package struct ClientID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id.
    package let rawValue: String
    /// Wraps an id.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The id.
    package var description: String { rawValue }

    /// The order of the texts.
    package static func < (lhs: ClientID, rhs: ClientID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The id of a subscription resource, as REST shows it.
package struct SubscriptionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The id.
    package let rawValue: String
    /// Wraps an id.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The id.
    package var description: String { rawValue }

    /// The order of the texts.
    package static func < (lhs: SubscriptionID, rhs: SubscriptionID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The subject of changes: a client or a subscription resource.
package enum TopicID: Hashable, Sendable {
    /// A client.
    case client(ClientID)
    /// A subscription resource.
    case subscription(SubscriptionID)
}
