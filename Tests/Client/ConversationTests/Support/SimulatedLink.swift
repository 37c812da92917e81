internal import SessionCore
internal import TLCP

/// One connection between the two ends: bytes keep their order in each direction, and arrive after a delay.
struct SimulatedLink {
    /// A fault of a connection.
    enum Fault: Hashable {
        /// It breaks, which both ends detect.
        case drop
        /// Nothing arrives in either direction, and neither end is notified.
        case halfOpen
        /// Bytes under way arrive after this time.
        case stall(Duration)
    }

    /// The purpose of the connection.
    let kind: TransportKind
    /// Whether lines of the session's stream arrive here, or only answers to requests beside it.
    var isStream: Bool { kind != .httpControl }
    /// When the client opened it.
    let openedAt: Duration
    /// Whether the client still has the connection.
    var isClientPresent = true
    /// Whether the server has the connection.
    var isServerPresent = false
    /// Whether nothing arrives.
    var isHalfOpen = false
    /// Splits the bytes that arrive at the client into lines.
    var splitter = LineSplitter()

    private var stalledUntil = Duration.zero
    private var lastAtClient = Duration.zero
    private var lastAtServer = Duration.zero

    /// A connection that is being opened.
    init(kind: TransportKind, openedAt: Duration) {
        self.kind = kind
        self.openedAt = openedAt
    }

    /// Delays the bytes sent from now on.
    mutating func stall(until time: Duration) { stalledUntil = max(stalledUntil, time) }

    /// The arrival time of bytes sent to the client at this instant.
    mutating func arrivalAtClient(sentAt now: Duration, latency: Duration) -> Duration {
        lastAtClient = max(lastAtClient, stalledUntil, now + latency)
        return lastAtClient
    }

    /// The arrival time of bytes sent to the server at this instant.
    mutating func arrivalAtServer(sentAt now: Duration, latency: Duration) -> Duration {
        lastAtServer = max(lastAtServer, stalledUntil, now + latency)
        return lastAtServer
    }
}
