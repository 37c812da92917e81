package import JSONText
package import SessionCore

/// A change of a client.
package enum ClientChange: Sendable, Equatable {
    /// The client was added. No effect if it is known.
    case added(ClientStatus)
    /// The client was removed. Its streams receive the events published before; those without another source are closed.
    case removed
    /// An event of the client. No effect if the client is unknown.
    case event(ClientTopicEvent)
}

/// An event of a client, as streams carry it.
package enum ClientTopicEvent: Sendable, Equatable {
    /// The status of the client has changed; `failure`: why it has no connection, nil while it has one and before the
    /// first failure.
    case status(ClientStatus, failure: LastFailure? = nil)
    /// The server refused or closed the client's session.
    case serverError(code: Int, message: String)
    /// A property of the client changed. The value is the one that REST shows; nil for those that are never shown.
    case property(name: String, value: JSONValue?)
    /// The outcome of a message is known; the id is the one that REST returned.
    case message(id: String, MessageOutcome)
    /// For legacy listeners: an event of the session core.
    case legacy(LegacyEvent)
    /// For legacy listeners: a session was opened; one event for each session.
    case sessionStarted(polling: Bool)
    /// For legacy listeners: the number of bytes received from the server since the last such event; at most one event a
    /// second.
    case bytesReceived(Int)
    /// For legacy listeners: true if the connection has been silent for too long, false if it is active again.
    case activityWarning(Bool)
}
