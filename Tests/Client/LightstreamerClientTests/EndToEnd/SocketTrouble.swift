internal import DemoServer
internal import LightstreamerClient
internal import Testing

/// One row of the table of faults: a fault of a connection, and the expected events of the client.
enum SocketTrouble: String, Sendable, CaseIterable {
    /// The connection breaks.
    case cut
    /// The connection breaks in the middle of a line.
    case cutLine
    /// The server ends the connection with LOOP.
    case loop
    /// The connection stays open, and nothing arrives on it.
    case silence
    /// Bytes arrive late.
    case stall
    /// The connection breaks, and the server has closed the session.
    case lostSession
    /// The connection breaks, and the server has no longer the notifications that the client has not received.
    case lostNotifications
    /// The server closes the session with a code that asks for a new one.
    case refresh

    /// The immediate fault of the server.
    var faults: [Fault] {
        switch self {
        case .cut: [Fault(.drop)]
        case .cutLine: [Fault(.cutLine())]
        case .loop: [Fault(.loop(delayMilliseconds: 0))]
        case .silence: [Fault(.halfOpen)]
        case .stall: [Fault(.stall(.milliseconds(600)))]
        case .lostSession: [Fault(.refuseRecovery), Fault(.drop)]
        case .lostNotifications: [Fault(.progress(1)), Fault(.drop)]
        case .refresh: [Fault(.end(code: 48, message: "refresh"))]
        }
    }

    /// Whether the session, and with it the subscription, continues.
    var keepsSession: Bool {
        switch self {
        case .cut, .cutLine, .loop, .silence, .stall: true
        case .lostSession, .lostNotifications, .refresh: false
        }
    }

    /// The statuses until the connection is restored.
    func statuses(on transport: SocketTransport) -> [ClientStatus] {
        switch self {
        case .loop: []
        case .cut, .cutLine: [.disconnectedTryingRecovery, transport.status]
        // An unanswered poll is given up without `STALLED`, since polls are silent by design.
        case .silence where transport.isPolling: [.disconnectedTryingRecovery, transport.status]
        case .silence: [.stalled, .disconnectedTryingRecovery, transport.status]
        case .stall: [.stalled, transport.status]
        case .lostSession, .lostNotifications:
            [.disconnectedTryingRecovery, .disconnectedWillRetry, .connecting, transport.status]
        case .refresh: [.disconnectedWillRetry, .connecting, transport.status]
        }
    }

    /// Whether the fault has an effect on a transport.
    func concerns(_ transport: SocketTransport) -> Bool { self != .stall || !transport.isPolling }

    /// Shortens the timeouts of the client, for faults that cause silence.
    func prepare(_ options: ConnectionOptions) throws {
        try options.setFirstRetryMaxDelay(0.001)
        try options.setRetryDelay(0.2)
        guard self == .silence || self == .stall else { return }
        try options.setKeepaliveInterval(0.2)
        try options.setStalledTimeout(0.1)
        try options.setReconnectTimeout(self == .stall ? 30 : 0.1)
        try options.setIdleTimeout(0.2)
    }
}

/// A transport of a client, and the status that shows it.
enum SocketTransport: String, Sendable, CaseIterable {
    case wsStreaming, httpStreaming, wsPolling, httpPolling

    /// The value of the option.
    var forced: ForcedTransport {
        switch self {
        case .wsStreaming: .wsStreaming
        case .httpStreaming: .httpStreaming
        case .wsPolling: .wsPolling
        case .httpPolling: .httpPolling
        }
    }

    /// The status of the client.
    var status: ClientStatus {
        switch self {
        case .wsStreaming: .connectedWSStreaming
        case .httpStreaming: .connectedHTTPStreaming
        case .wsPolling: .connectedWSPolling
        case .httpPolling: .connectedHTTPPolling
        }
    }

    /// Whether each connection ends with its first data.
    var isPolling: Bool { self == .wsPolling || self == .httpPolling }
}
