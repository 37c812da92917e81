internal import NIOCore

/// Makes connections over sockets, all of one client on one network thread.
package final class SocketConnector: TransportConnector {
    /// How long connections that are being closed may take before they are cut.
    private static let patience = TimeAmount.seconds(3)

    private let loop: any EventLoop
    private let registry = ChannelRegistry()
    private let shared: SocketContext

    /// A connector. Throws for TLS settings that cannot be used.
    package init(_ settings: SocketSettings) throws(TLSSettingsError) {
        // The system's authorities are read when the first TLS connection needs them.
        let contexts = try TLSContexts(settings.tls, isNeeded: settings.tls != TLSSettings())
        let credentials = Credentials(proxy: settings.proxy)
        loop = settings.loops.next()
        let dialer = Dialer(settings, contexts: contexts, credentials: credentials, registry: registry, loop: loop)
        shared = SocketContext(settings, credentials: credentials, dialer: dialer)
    }

    /// Starts to open a connection.
    package func open(
        _ order: ConnectionRequest,
        events: @escaping @Sendable (TransportEvent) -> Void
    ) -> any Transport {
        switch order.kind {
        case .webSocket:
            let transport = WebSocketTransport(order, shared, events: events)
            loop.execute { transport.start() }
            return transport
        case .httpStream, .httpPoll, .httpControl:
            let transport = HTTPTransport(order, shared, events: events)
            loop.execute { transport.start() }
            return transport
        }
    }

    /// Closes idle connections, waits for those that are being closed, and cuts what takes too long.
    package func shutDown() async {
        registry.close()
        loop.execute { [shared] in shared.pool.close() }
        let cut = loop.scheduleTask(in: Self.patience) { [registry] in registry.cut() }
        await registry.drained()
        cut.cancel()
    }
}

/// What the connections of one client have in common.
package struct SocketSettings: Sendable {
    /// The network threads.
    package var loops: EventLoops
    /// The cookies sent and received.
    package var cookies: CookieJar
    /// How servers are recognised.
    package var tls = TLSSettings()
    /// The proxy; nil: none.
    package var proxy: ProxySettings?
    /// How long each of TCP connection, proxy dialogue, TLS handshake and WebSocket handshake may take.
    package var connectTimeout: Duration = .seconds(10)
    /// The longest line, and the longest WebSocket message, in bytes.
    package var maxLineLength = 64 << 20
    /// How many bytes of one connection may wait to be handled before it is no longer read.
    package var receiveWindow = 1 << 20
    /// Changes requests right before they are sent.
    package var decorate: @Sendable (inout OutgoingRequest) -> Void = { _ in }
    /// Whether somebody answers challenges at present.
    package var canAuthenticate: @Sendable () -> Bool = { false }
    /// Answers a challenge, now or later.
    package var authenticate: @Sendable (AuthenticationChallenge) -> Void = { $0.answer(.performDefaultHandling) }

    /// Settings with the defaults.
    package init(loops: EventLoops, cookies: CookieJar) {
        self.loops = loops
        self.cookies = cookies
    }
}

/// TLS settings that cannot be used.
package struct TLSSettingsError: Error, Equatable {
    /// What is wrong.
    package let reason: String
}

/// What the transports of one client share.
///
/// `@unchecked Sendable`: everything in it may be used anywhere but `pool`, which is used on the client's thread alone.
final class SocketContext: @unchecked Sendable {
    let settings: SocketSettings
    let credentials: Credentials
    let dialer: Dialer
    let pool: KeepAlivePool
    let heads: RequestHead

    init(_ settings: SocketSettings, credentials: Credentials, dialer: Dialer) {
        self.settings = settings
        self.credentials = credentials
        self.dialer = dialer
        pool = KeepAlivePool(loop: dialer.loop)
        heads = RequestHead(settings, credentials)
    }
}
