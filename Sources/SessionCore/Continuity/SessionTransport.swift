/// One way to bind a session, from the best to the one that always works.
package enum SessionTransport: Sendable, Hashable, CaseIterable {
    /// Streaming on a WebSocket.
    case webSocketStreaming
    /// Streaming on an HTTP response.
    case httpStreaming
    /// Polling on a WebSocket.
    case webSocketPolling
    /// Polling by HTTP requests.
    case httpPolling

    /// Whether the stream travels on a WebSocket, and control requests with it.
    var usesWebSocket: Bool { self == .webSocketStreaming || self == .webSocketPolling }

    /// Whether the connection stays open; otherwise each bind is one poll.
    var streams: Bool { self == .webSocketStreaming || self == .httpStreaming }

    /// The status while the session is bound in this way.
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
}
