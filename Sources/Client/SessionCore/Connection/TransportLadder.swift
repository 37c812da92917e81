/// Chooses transports (Stream-Sense), and remembers which were found not to work.
///
/// *Suspended* concerns the WebSocket at creation only; *disabled* concerns creation and bind. Both survive sessions
/// and retries, until the client is disconnected or seems to have moved to another network.
struct TransportLadder {
    private var isWebSocketSuspended = false
    private var disabled: Set<SessionTransport> = []
    /// The transports without success in the present session, or in the last one if that never became stable.
    private var refused: Set<SessionTransport> = []
    /// The transports over which one connection was lost too early, in the same time and since the last stable connection.
    private var doubted: Set<SessionTransport> = []
    /// Whether a bind to streaming on a WebSocket has ended before the first line, in the same time.
    private var isSocketSilent = false
    private var clientIP: String?

    /// Whether a session is to be created on a WebSocket rather than over HTTP.
    func createsOnWebSocket(forced: ForcedTransport?, isEarlyOpenEnabled: Bool) -> Bool {
        guard isEarlyOpenEnabled, !isWebSocketSuspended, isAdmitted(.webSocketStreaming) else { return false }
        switch forced {
        case nil, .ws, .wsStreaming: return true
        case .wsPolling, .http, .httpStreaming, .httpPolling: return false
        }
    }

    /// The best transport that is admitted and not disabled; nil if there is none.
    func bestTransport(forced: ForcedTransport?) -> SessionTransport? {
        Self.preference(forced).first(where: isAdmitted)
    }

    private func isAdmitted(_ transport: SessionTransport) -> Bool {
        !disabled.contains(transport) && !refused.contains(transport)
    }

    private static func preference(_ forced: ForcedTransport?) -> [SessionTransport] {
        switch forced {
        case nil: [.webSocketStreaming, .httpStreaming, .webSocketPolling, .httpPolling]
        case .ws: [.webSocketStreaming, .webSocketPolling]
        case .wsStreaming: [.webSocketStreaming]
        case .wsPolling: [.webSocketPolling]
        case .http: [.httpStreaming, .httpPolling]
        case .httpStreaming: [.httpStreaming]
        case .httpPolling: [.httpPolling]
        }
    }

    /// A WebSocket did not work at creation.
    mutating func suspendWebSocket() { isWebSocketSuspended = true }

    /// A WebSocket did not work at a bind.
    mutating func disableWebSocket() { disabled.formUnion([.webSocketStreaming, .webSocketPolling]) }

    /// HTTP responses do not arrive while they are open.
    mutating func disableHTTPStreaming() { disabled.insert(.httpStreaming) }

    /// An HTTP streaming response was refused.
    mutating func streamRefused() { refused.insert(.httpStreaming) }

    /// A bind to a streaming transport ended before the first line. A WebSocket, on which the server had answered, gets a
    /// second chance; where no other transport is admitted, also after a stream that broke behind its head.
    mutating func streamLost(over transport: SessionTransport, forced: ForcedTransport?) {
        guard transport == .webSocketStreaming else {
            refused.insert(transport)
            return
        }
        let wasSilent = isSocketSilent
        isSocketSilent = true
        guard !doubted.insert(transport).inserted else { return }
        refused.insert(transport)
        if !wasSilent, bestTransport(forced: forced) == nil { refused.remove(transport) }
    }

    /// A connection broke behind the lines of its head, before it was stable. After the second one the transport is not used
    /// any more, unless it is the only one that is admitted: a proxy may let no stream pass.
    mutating func connectionCut(over transport: SessionTransport, forced: ForcedTransport?) {
        guard !doubted.insert(transport).inserted, refused.insert(transport).inserted else { return }
        if bestTransport(forced: forced) == nil { refused.remove(transport) }
    }

    mutating func connectionProved(over transport: SessionTransport) {
        doubted.remove(transport)
        if transport == .webSocketStreaming { isSocketSilent = false }
    }

    /// A session is over. The next one tries all transports again, unless it may have to fail for the same reason.
    mutating func sessionEnded(wasStable: Bool) {
        if wasStable { (refused, doubted, isSocketSilent) = ([], [], false) }
    }

    /// The client reads too slowly to stream. Returns false, and changes nothing, if only streaming is admitted.
    mutating func disableStreaming(forced: ForcedTransport?) -> Bool {
        let before = disabled
        disabled.formUnion([.webSocketStreaming, .httpStreaming])
        if bestTransport(forced: forced) != nil { return true }
        disabled = before
        return false
    }

    /// `CLIENTIP`: another address than before indicates another network, where all transports are tried again.
    mutating func clientAddressSeen(_ address: String) {
        if let clientIP, clientIP != address { admitAll() }
        clientIP = address
    }

    mutating func admitAll() {
        isWebSocketSuspended = false
        isSocketSilent = false
        doubted = []
        refused = []
        disabled = []
    }

    /// The client was disconnected: all transports are enabled again.
    mutating func reset() { self = TransportLadder() }
}

/// A change of transport during a session: the server is asked to end the present binding with `LOOP`.
enum TransportSwitch: Equatable {
    /// No change is under way. *Leaves to* `asked`.
    case none
    /// `force_rebind` is to be sent, or was sent. *Leaves to* `granted`, by a refusal to `none`.
    case asked(cause: String?)
    /// The server agreed; `LOOP` will come. *Leaves to* `none`.
    case granted(cause: String?)

    /// The reason for the change, where there is one.
    var cause: String? {
        switch self {
        case .none: nil
        case .asked(let cause), .granted(let cause): cause
        }
    }

    /// `force_rebind` was answered.
    mutating func answered(isAccepted: Bool) {
        switch self {
        case .asked(let cause): self = isAccepted ? .granted(cause: cause) : .none
        case .none, .granted: break
        }
    }
}
