/// The status of a client's connection, with the strings of the class reference as raw values.
public enum ClientStatus: String, Sendable, Hashable, CaseIterable {
    /// A session creation request is being opened or sent.
    case connecting = "CONNECTING"
    /// A session exists, its transport is still to be chosen (creation over HTTP only).
    case connectedStreamSensing = "CONNECTED:STREAM-SENSING"
    /// The session is bound to a WebSocket and streams.
    case connectedWSStreaming = "CONNECTED:WS-STREAMING"
    /// The session is bound to an HTTP response and streams.
    case connectedHTTPStreaming = "CONNECTED:HTTP-STREAMING"
    /// The session polls over a WebSocket.
    case connectedWSPolling = "CONNECTED:WS-POLLING"
    /// The session polls over HTTP.
    case connectedHTTPPolling = "CONNECTED:HTTP-POLLING"
    /// A streaming connection has been silent for longer than the keepalive interval plus the stalled timeout.
    case stalled = "STALLED"
    /// The session is lost or could not be opened; a new one will be tried.
    case disconnectedWillRetry = "DISCONNECTED:WILL-RETRY"
    /// The session was interrupted; attempts to recover it are under way.
    case disconnectedTryingRecovery = "DISCONNECTED:TRYING-RECOVERY"
    /// No connection, and none will be tried before `connect()`.
    case disconnected = "DISCONNECTED"

    /// Whether the status is one of the `CONNECTED:*`.
    public var isConnected: Bool {
        switch self {
        case .connectedStreamSensing, .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling,
            .connectedHTTPPolling:
            true
        case .connecting, .stalled, .disconnectedWillRetry, .disconnectedTryingRecovery, .disconnected:
            false
        }
    }
}
