/// Chooses transports (Stream-Sense), and remembers which were found not to work.
///
/// *Suspended* concerns the WebSocket at creation only; *disabled* concerns creation and bind. Both survive sessions
/// and retries, until the client is disconnected or seems to have moved to another network.
struct TransportLadder {
    private var isWebSocketSuspended = false
    private var disabled: Set<SessionTransport> = []
    private var clientIP: String?

    /// Whether a session is to be created on a WebSocket rather than over HTTP.
    func createsOnWebSocket(forced: ForcedTransport?, isEarlyOpenEnabled: Bool) -> Bool {
        guard isEarlyOpenEnabled, !isWebSocketSuspended, !disabled.contains(.webSocketStreaming) else { return false }
        switch forced {
        case nil, .ws, .wsStreaming: return true
        case .wsPolling, .http, .httpStreaming, .httpPolling: return false
        }
    }

    /// The best way to bind a session; nil if none is admitted.
    func bestRung(forced: ForcedTransport?) -> SessionTransport? {
        Self.preference(forced).first { !disabled.contains($0) }
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

    /// The client reads too slowly to stream. False: nothing but streaming is admitted, so nothing changes.
    mutating func disableStreaming(forced: ForcedTransport?) -> Bool {
        let before = disabled
        disabled.formUnion([.webSocketStreaming, .httpStreaming])
        if bestRung(forced: forced) != nil { return true }
        disabled = before
        return false
    }

    /// The server told the client's address; another one than before means another network, where all may work again.
    mutating func clientAddressSeen(_ address: String) {
        if let clientIP, clientIP != address { admitAll() }
        clientIP = address
    }

    /// Tries everything again.
    mutating func admitAll() {
        isWebSocketSuspended = false
        disabled = []
    }

    /// The client was disconnected: everything is forgotten.
    mutating func reset() { self = TransportLadder() }
}
