internal import JSONText
internal import SessionCore

/// What legacy listeners are told of events that others are told in another form.
struct LegacyDerivation: Sendable {
    private var isSilent = false
    private var hasAnnounced = false

    /// A client of which nothing was told yet.
    init(status: ClientStatus) {
        isSilent = status == .stalled
        hasAnnounced = Self.isPolling(status) != nil
    }

    /// The legacy events that an event stands for, too.
    ///
    /// A session's start is told once, at the first status that says which transport it has; silence is told when it
    /// begins and when it ends.
    mutating func events(for event: HubEvent) -> [LegacyStreamEvent] {
        switch event {
        case .status(let status):
            var events: [LegacyStreamEvent] = []
            if isSilent != (status == .stalled) {
                isSilent.toggle()
                events.append(.activityWarning(isSilent))
            }
            if !hasAnnounced, let isPolling = Self.isPolling(status) {
                hasAnnounced = true
                events.append(.sessionStarted(polling: isPolling))
            }
            return events
        case .property(name: "sessionId", let value):
            if value?.isNull == true { hasAnnounced = false }
            return []
        case .property, .serverError, .message, .legacy, .subscription:
            return []
        }
    }

    private static func isPolling(_ status: ClientStatus) -> Bool? {
        switch status {
        case .connectedWSStreaming, .connectedHTTPStreaming: false
        case .connectedWSPolling, .connectedHTTPPolling: true
        case .connecting, .connectedStreamSensing, .stalled, .disconnectedWillRetry, .disconnectedTryingRecovery,
            .disconnected:
            nil
        }
    }
}
