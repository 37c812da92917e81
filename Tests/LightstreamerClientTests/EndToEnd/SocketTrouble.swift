internal import DemoServer
internal import LightstreamerClient
internal import Testing

/// One row of the table of troubles: what goes wrong on a connection, and what the client's listeners are told of it.
enum SocketTrouble: String, Sendable, CaseIterable {
    /// The connection breaks.
    case cut
    /// The connection breaks in the middle of a line.
    case cutLine
    /// The server ends the connection and asks for another one of the same session.
    case loop
    /// The connection stays open, and nothing comes on it any more.
    case silence
    /// What comes, comes late.
    case stall
    /// The connection breaks, and the server does not know the session any more.
    case lostSession
    /// The connection breaks, and the server has forgotten notifications that the client did not get.
    case lostNotifications
    /// The server closes the session and asks for a new one.
    case refresh

    /// What the server does at once.
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

    /// Whether the session, and with it the subscription, goes on.
    var keepsSession: Bool {
        switch self {
        case .cut, .cutLine, .loop, .silence, .stall: true
        case .lostSession, .lostNotifications, .refresh: false
        }
    }

    /// The statuses that are told, one after the other, until the connection is as it was.
    func statuses(on transport: SocketTransport) -> [ClientStatus] {
        switch self {
        case .loop: []
        case .cut, .cutLine: [.disconnectedTryingRecovery, transport.status]
        // A poll that is not answered is given up without a warning: silence is what a poll is made of.
        case .silence where transport.isPolling: [.disconnectedTryingRecovery, transport.status]
        case .silence: [.stalled, .disconnectedTryingRecovery, transport.status]
        case .stall: [.stalled, transport.status]
        case .lostSession, .lostNotifications:
            [.disconnectedTryingRecovery, .disconnectedWillRetry, .connecting, transport.status]
        case .refresh: [.disconnectedWillRetry, .connecting, transport.status]
        }
    }

    /// Whether the trouble can be seen on a transport.
    func concerns(_ transport: SocketTransport) -> Bool { self != .stall || !transport.isPolling }

    /// Makes the client notice silence soon, where that is what the trouble is about.
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

/// A transport that a client is told to use, and the status that says that it does.
enum SocketTransport: String, Sendable, CaseIterable {
    case wsStreaming, httpStreaming, wsPolling, httpPolling

    /// What the option says.
    var forced: ForcedTransport {
        switch self {
        case .wsStreaming: .wsStreaming
        case .httpStreaming: .httpStreaming
        case .wsPolling: .wsPolling
        case .httpPolling: .httpPolling
        }
    }

    /// What the client says.
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
