internal import Primitives
internal import SessionCore

/// The attempts of a pooled client to connect again after its server refused or closed the session.
struct ReconnectSchedule {
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    /// The pause before the next attempt, doubled after each.
    private var pause = shortestPause
    /// When the next attempt is due; nil: none is planned.
    private(set) var next: Moment?
    /// Since when the client has been connected; nil: it is not.
    private var connectedSince: Moment?

    /// Plans an attempt if the session is closed. A connection that has lasted as long as the pause lets the pauses begin
    /// anew. A shorter one does not: the server may accept each session and close it at once.
    mutating func statusChanged(to status: ClientStatus, at now: Moment) {
        if status.isConnected {
            connectedSince = connectedSince ?? now
        } else if let since = connectedSince {
            if now - since >= pause { pause = Self.shortestPause }
            connectedSince = nil
        }
        next = nil
        guard status == .disconnected else { return }
        next = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    /// Begins the planned attempt if it is due; false if not.
    mutating func begin(at now: Moment) -> Bool {
        guard let due = next, due <= now else { return false }
        next = nil
        return true
    }
}
