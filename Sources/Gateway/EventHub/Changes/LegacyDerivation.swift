internal import JSONText
package import Primitives
package import SessionCore

/// Derives the events of legacy listeners from those of one client. It precedes the hub, so that each change of the
/// hub is one event.
package struct LegacyDerivation: Sendable {
    /// The least time between two events that report received bytes.
    private static let bytesInterval = Duration.seconds(1)

    private var isSilent = false
    private var hasAnnouncedSession = false
    private var unreportedBytes = 0
    private var bytesReportedAt: Moment?

    /// The derivation for a client with the present status.
    package init(status: ClientStatus) {
        isSilent = status == .stalled
        hasAnnouncedSession = Self.isPolling(status) != nil
    }

    /// The legacy events that follow from an event.
    ///
    /// The start of a session is reported once, at the first status that shows its transport; silence is reported when
    /// it begins and when it ends.
    package mutating func events(for event: HubEvent) -> [LegacyStreamEvent] {
        switch event {
        case .status(let status):
            var events: [LegacyStreamEvent] = []
            // Silence may follow a change of status: the bytes received until now are reported first.
            if unreportedBytes > 0 { events.append(.bytesReceived(unreportedBytes)) }
            unreportedBytes = 0
            if isSilent != (status == .stalled) {
                isSilent.toggle()
                events.append(.activityWarning(isSilent))
            }
            if !hasAnnouncedSession, let isPolling = Self.isPolling(status) {
                hasAnnouncedSession = true
                events.append(.sessionStarted(polling: isPolling))
            }
            return events
        case .property(name: "sessionId", let value):
            if value?.isNull == true { hasAnnouncedSession = false }
            return []
        case .property, .serverError, .message, .legacy, .subscription:
            return []
        }
    }

    /// Adds received bytes. Returns their sum at most once a second, else nil.
    package mutating func received(bytes count: Int, at now: Moment) -> LegacyStreamEvent? {
        unreportedBytes += count
        if let last = bytesReportedAt, now - last < Self.bytesInterval { return nil }
        bytesReportedAt = now
        defer { unreportedBytes = 0 }
        return .bytesReceived(unreportedBytes)
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
