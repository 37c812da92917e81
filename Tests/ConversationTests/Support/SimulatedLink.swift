internal import SessionCore
internal import TLCP

/// One connection between the two ends: bytes keep their order in each direction, and take their time.
struct SimulatedLink {
    /// What can go wrong with a connection.
    enum Fault: Hashable {
        /// It breaks; both ends notice.
        case drop
        /// Nothing arrives any more in either direction, and neither end is told.
        case halfOpen
        /// What is under way arrives only after this time.
        case stall(Duration)
    }

    /// What the connection is for.
    let kind: TransportRequest.Kind
    /// Whether lines of the session's stream arrive here, or only answers to requests beside it.
    var isStream: Bool { kind != .httpControl }
    /// When the client opened it.
    let openedAt: Duration
    /// Whether the client still wants to hear of it.
    var isClientPresent = true
    /// Whether the server knows of it.
    var isServerPresent = false
    /// Whether nothing arrives any more.
    var isHalfOpen = false
    /// Cuts what arrives at the client into lines.
    var splitter = LineSplitter()

    private var stalledUntil = Duration.zero
    private var lastAtClient = Duration.zero
    private var lastAtServer = Duration.zero

    /// A connection that is being opened.
    init(kind: TransportRequest.Kind, openedAt: Duration) {
        self.kind = kind
        self.openedAt = openedAt
    }

    /// Holds back what is sent from now on.
    mutating func stall(until time: Duration) { stalledUntil = max(stalledUntil, time) }

    /// When something that is sent to the client at this instant arrives.
    mutating func arrivalAtClient(sentAt now: Duration, latency: Duration) -> Duration {
        lastAtClient = max(lastAtClient, stalledUntil, now + latency)
        return lastAtClient
    }

    /// When something that is sent to the server at this instant arrives.
    mutating func arrivalAtServer(sentAt now: Duration, latency: Duration) -> Duration {
        lastAtServer = max(lastAtServer, stalledUntil, now + latency)
        return lastAtServer
    }
}
