internal import SessionCore

extension HubEvent {
    /// The name under which streams tell the event.
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
    /// The name under which streams tell the event.
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
    /// The name under which streams tell the event.
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
