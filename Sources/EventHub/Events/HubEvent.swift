package import JSONText
package import SessionCore

/// Something that is told to the streams that carry a topic.
package enum HubEvent: Sendable, Equatable {
    /// The client's status is this from now on.
    case status(ClientStatus)
    /// The server refused or closed the client's session.
    case serverError(code: Int, message: String)
    /// A property of the client changed. The value is the one that REST shows; nil for those that are never shown.
    case property(name: String, value: JSONValue?)
    /// A message has its outcome; the id is the one that REST gave.
    case message(id: String, MessageOutcome)
    /// Something that only legacy streams are told.
    case legacy(LegacyStreamEvent)
    /// An event of a subscription.
    case subscription(SubscriptionEvent)
}
