internal import Changes
internal import Primitives
internal import SessionCore

/// Derives the events of legacy listeners from the other events of one client.
struct LegacyDerivation: Sendable {
    /// The least time between two events that report received bytes.
    private static let bytesInterval = Duration.seconds(1)

    private var isSilent = false
    private var hasAnnouncedSession = false
    private var unreportedBytes = 0
    private var bytesReportedAt: Moment?

    /// The derivation for a client with the present status. `continuesSession`: its first session is that of another process,
    /// which has reported the start.
    init(status: ClientStatus, continuesSession: Bool = false) {
        isSilent = status == .stalled
        hasAnnouncedSession = continuesSession || Self.isPolling(status) != nil
    }

    /// The events of legacy listeners that follow from a status.
    ///
    /// The start of a session is reported once, at the first status that shows its transport; silence is reported when
    /// it begins and when it ends.
    mutating func events(forStatus status: ClientStatus) -> [ClientTopicEvent] {
        var events: [ClientTopicEvent] = []
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
    }

    /// The client has no session any more: the start of the next one is reported.
    mutating func sessionEnded() { hasAnnouncedSession = false }

    /// Adds received bytes. Returns their sum at most once a second, else nil.
    mutating func received(bytes count: Int, at now: Moment) -> ClientTopicEvent? {
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
