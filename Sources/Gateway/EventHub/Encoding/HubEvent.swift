package import JSONText
package import SessionCore

/// An event of a topic.
package enum HubEvent: Sendable, Equatable {
    /// The status of the client has changed.
    case status(ClientStatus)
    /// The server refused or closed the client's session.
    case serverError(code: Int, message: String)
    /// A property of the client changed. The value is the one that REST shows; nil for those that are never shown.
    case property(name: String, value: JSONValue?)
    /// The outcome of a message is known; the id is the one that REST returned.
    case message(id: String, MessageOutcome)
    /// An event for legacy listeners only.
    case legacy(LegacyStreamEvent)
    /// An event of a subscription.
    case subscription(SubscriptionEvent)
}

/// An event of the legacy connection delegate.
package enum LegacyStreamEvent: Sendable, Equatable {
    /// A connection was established: on creation, bind, poll or recovery.
    case connectionEstablished
    /// A session was opened; one event for each session.
    case sessionStarted(polling: Bool)
    /// The number of bytes received from the server since the last such event; at most one event a second.
    case bytesReceived(Int)
    /// True: the connection has been silent for too long. False: it is active again.
    case activityWarning(Bool)
    /// The disconnection that the application asked for is complete.
    case connectionClosed
    /// The server ended the session for good.
    case connectionEnded(cause: Int)
    /// A connection failed; the client reconnects by itself.
    case connectionFailure(reason: String)
    /// The server signalled a failure.
    case serverFailure(code: Int, message: String)
    /// Server data could not be interpreted.
    case dataError(reason: String)
    /// A device token change ended; `code` nil means success, and then the device id is the server's.
    case deviceTokenChange(deviceID: String?, code: Int?, message: String?)
    /// A badge reset ended; `code` nil means success.
    case badgeReset(code: Int?, message: String?)

    /// The event for a legacy event of the session core.
    package init(_ event: LegacyEvent) {
        switch event {
        case .connectionEstablished: self = .connectionEstablished
        case .ended(let cause): self = .connectionEnded(cause: cause)
        case .connectionFailed(let reason): self = .connectionFailure(reason: reason)
        case .serverFailed(let code, let message): self = .serverFailure(code: code, message: message)
        case .badData(let reason): self = .dataError(reason: reason)
        case .closed: self = .connectionClosed
        case .deviceRegistered(let deviceID, let code, let message):
            self = .deviceTokenChange(deviceID: deviceID, code: code, message: message)
        case .badgeReset(_, let code, let message): self = .badgeReset(code: code, message: message)
        }
    }
}

extension HubEvent {
    /// The event's name on streams.
    package var name: StaticString {
        switch self {
        case .status: "status"
        case .serverError: "server-error"
        case .property: "property"
        case .message: "message-outcome"
        case .legacy(let event): event.name
        case .subscription(let event): event.name
        }
    }
}

extension SubscriptionEvent {
    /// The event's name on streams.
    fileprivate var name: StaticString {
        switch self {
        case .subscribed: "subscribed"
        case .unsubscribed: "unsubscribed"
        case .failed: "subscription-error"
        case .update: "update"
        case .endOfSnapshot: "end-of-snapshot"
        case .clearSnapshot: "clear-snapshot"
        case .lostUpdates: "lost-updates"
        case .secondLevelFailed: "second-level-error"
        case .secondLevelLostUpdates: "second-level-lost-updates"
        case .realMaxFrequency: "real-max-frequency"
        }
    }
}

extension LegacyStreamEvent {
    /// The event's name on streams.
    fileprivate var name: StaticString {
        switch self {
        case .connectionEstablished: "connection-established"
        case .sessionStarted: "session-started"
        case .bytesReceived: "bytes-received"
        case .activityWarning: "activity-warning"
        case .connectionClosed: "connection-closed"
        case .connectionEnded: "connection-ended"
        case .connectionFailure: "connection-failure"
        case .serverFailure: "server-failure"
        case .dataError: "data-error"
        case .deviceTokenChange: "device-token-change"
        case .badgeReset: "badge-reset"
        }
    }
}

extension HubEvent {
    /// The approximate size of an event without its texts, in bytes.
    private static let baseWeight = 160
    /// The approximate size of a value without its text, in bytes.
    private static let valueWeight = 16

    /// The approximate size of the event in bytes.
    var weight: Int {
        switch self {
        case .subscription(.update(let update)): Self.weight(of: update)
        case .serverError(_, let message), .message(_, .processed(let message)):
            Self.baseWeight &+ message.utf8.count
        case .status, .property, .message, .legacy, .subscription: Self.baseWeight
        }
    }

    /// The approximate size of an event with this update in bytes.
    static func weight(of update: ItemUpdate) -> Int {
        update.values.reduce(baseWeight) { $0 &+ valueWeight &+ ($1?.utf8.count ?? 0) }
            + update.patches.values.reduce(0) { $0 &+ $1.utf8.count }
    }
}
