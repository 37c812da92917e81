internal import Changes
internal import SessionCore

/// An event of a topic, as the log of the topic has it.
enum HubEvent: Sendable, Equatable {
    /// An event of a client.
    case client(ClientTopicEvent)
    /// An event of a subscription.
    case subscription(SubscriptionEvent)

    /// The event's name on streams.
    var name: StaticString {
        switch self {
        case .client(let event): event.name
        case .subscription(let event): event.name
        }
    }
}

extension ClientTopicEvent {
    /// The event's name on streams.
    var name: StaticString {
        switch self {
        case .status: "status"
        case .serverError: "server-error"
        case .property: "property"
        case .message: "message-outcome"
        case .legacy(let event): event.name
        case .sessionStarted: "session-started"
        case .bytesReceived: "bytes-received"
        case .activityWarning: "activity-warning"
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

extension LegacyEvent {
    /// The event's name on streams.
    fileprivate var name: StaticString {
        switch self {
        case .connectionEstablished: "connection-established"
        case .closed: "connection-closed"
        case .ended: "connection-ended"
        case .connectionFailed: "connection-failure"
        case .serverFailed: "server-failure"
        case .badData: "data-error"
        case .deviceRegistered, .deviceRefused: "device-token-change"
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
        case .client(.serverError(_, let message)), .client(.message(_, .processed(let message))):
            Self.baseWeight &+ message.utf8.count
        case .client, .subscription: Self.baseWeight
        }
    }

    /// The approximate size of an event with this update in bytes.
    static func weight(of update: ItemUpdate) -> Int {
        update.values.reduce(baseWeight) { $0 &+ valueWeight &+ ($1?.utf8.count ?? 0) }
            + update.patches.values.reduce(0) { $0 &+ $1.utf8.count }
    }
}
