internal import TLCP

/// The data of the present session.
struct SessionRecord {
    /// The session ID that the server assigned.
    let id: SessionID
    /// The address of the `create_session` request.
    let creationAddress: String
    /// Whether control links are ignored: the value of the option at creation.
    let ignoresControlLink: Bool
    /// The address for everything that needs a new connection.
    private(set) var address: String
    /// The control link that was refused last, so that it is noted once.
    private(set) var refusedLink: String?
    /// The extra headers of all requests of the session; nil: those of the option. Set by a change of the option while the
    /// session uses a WebSocket: the class reference lets the change wait for a new session.
    private(set) var heldHeaders: [String: String]?
    /// The maximum size of a request that the server accepts, in bytes.
    var requestLimit: Int
    /// How far the flow of data notifications has been processed.
    var cursor = RecoveryCursor()

    /// Moves later connections to the address that the server names, unless the address is not allowed.
    mutating func follow(controlLink: String, allowed: AddressAllowList?, _ out: inout SessionOutput) {
        guard !ignoresControlLink, let base = ServerAddress(creationAddress),
            let address = ServerAddress.completing(controlLink: controlLink, from: base)
        else { return }
        guard allowed?.allows(address) ?? true else {
            if refusedLink != address { out.emit(.log(.controlLinkRefused(address))) }
            refusedLink = address
            return
        }
        self.address = address
        out.setProperty(.serverInstanceAddress(address))
    }

    /// The extra headers of the option were changed while the session used a WebSocket; these are the ones before.
    mutating func hold(headers: [String: String]?) { heldHeaders = heldHeaders ?? headers ?? [:] }
}

/// The transport of a bound session, in order of preference.
package enum SessionTransport: Sendable, Hashable, CaseIterable {
    case webSocketStreaming
    case httpStreaming
    case webSocketPolling
    case httpPolling

    /// Whether the stream travels on a WebSocket, and control requests with it.
    var usesWebSocket: Bool { self == .webSocketStreaming || self == .webSocketPolling }

    /// Whether the connection stays open; otherwise each bind is one poll.
    var streams: Bool { self == .webSocketStreaming || self == .httpStreaming }

    /// The status while the session is bound to this transport.
    var status: ClientStatus {
        switch self {
        case .webSocketStreaming: .connectedWSStreaming
        case .httpStreaming: .connectedHTTPStreaming
        case .webSocketPolling: .connectedWSPolling
        case .httpPolling: .connectedHTTPPolling
        }
    }

    /// The first word of `LS_cause`.
    var causePrefix: String { usesWebSocket ? "ws" : "http" }

    /// The `LS_cause` of a bind after a `LOOP` over the transport; nil after an HTTP poll, as with the official clients.
    var loopCause: String? { self == .httpPolling ? nil : "\(causePrefix).loop" }
}

/// Counts the data notifications of a session, so that a recovery can name the first one that is missing.
///
/// The server's count and the client's are equal except after a recovery that resumed earlier than requested: then
/// the server repeats notifications that were processed before.
struct RecoveryCursor {
    /// The meaning of a `PROG`.
    enum Resumption: Equatable {
        /// The data flow continues; notifications processed before are skipped.
        case resumed
        /// The data flow has a gap: the session must be given up.
        case mismatch(received: Int, expected: Int)
    }

    /// The number of data notifications processed since the session began.
    private(set) var processed = 0
    private var sent = 0

    /// A cursor after this number of data notifications.
    init(processed: Int = 0) {
        self.processed = processed
        sent = processed
    }

    /// A data notification arrived. False: it was processed before, and must be skipped.
    mutating func isFresh() -> Bool {
        sent &+= 1
        guard sent > processed else { return false }
        processed = sent
        return true
    }

    /// A recovery is requested: without a `PROG` the flow resumes after the last notification processed.
    mutating func recoveryRequested() { sent = processed }

    /// A `PROG` arrived.
    mutating func resumed(from progressive: Int, inRecovery: Bool) -> Resumption {
        if inRecovery {
            guard (0...processed).contains(progressive) else {
                return .mismatch(received: progressive, expected: sent)
            }
            sent = progressive
            return .resumed
        }
        return progressive == sent ? .resumed : .mismatch(received: progressive, expected: sent)
    }
}

/// The read-only properties of a session, as they were notified last; all nil without a session.
package struct ServerProperties {
    package private(set) var sessionId: String?
    package private(set) var serverInstanceAddress: String?
    package private(set) var serverSocketName: String?
    package private(set) var clientIp: String?
    package private(set) var realMaxBandwidth: RealMaxBandwidth?

    package init() {}

    /// Sets a value. Returns false if it did not change, or if it is not one of these; a notification is then not needed.
    @discardableResult
    package mutating func apply(_ change: PropertyChange) -> Bool {
        switch change {
        case .sessionId(let value): Self.replace(&sessionId, by: value)
        case .serverInstanceAddress(let value): Self.replace(&serverInstanceAddress, by: value)
        case .serverSocketName(let value): Self.replace(&serverSocketName, by: value)
        case .clientIp(let value): Self.replace(&clientIp, by: value)
        case .realMaxBandwidth(let value): Self.replace(&realMaxBandwidth, by: value)
        case .keepaliveInterval, .idleTimeout, .pollingInterval, .currentConnectTimeout: false
        }
    }

    private static func replace<Value: Equatable>(_ property: inout Value?, by value: Value?) -> Bool {
        guard property != value else { return false }
        property = value
        return true
    }

    /// The changes at the end of a session, in the order of the notifications.
    static var atSessionEnd: [PropertyChange] {
        [.serverInstanceAddress(nil), .sessionId(nil), .serverSocketName(nil), .clientIp(nil), .realMaxBandwidth(nil)]
    }
}

/// The arguments of a `CONOK`.
struct ConnectionAccepted {
    var sessionID: SessionID
    var requestLimit: Int
    /// The granted keepalive interval, or on a poll the granted idle time.
    var keepalive: Duration
    var controlLink: String?
}
