internal import NIOCore

/// Opens connections over sockets, all of one client on one network thread.
package final class SocketConnector: TransportConnector {
    /// The time that connections have to close before they are closed forcibly.
    private static let shutdownTimeout = TimeAmount.seconds(3)

    private let loop: any EventLoop
    private let registry = ChannelRegistry()
    private let shared: SocketContext

    /// A connector. Throws if the TLS settings are invalid.
    package init(_ settings: SocketSettings) throws(TLSSettingsError) {
        // The authorities of the system are loaded for the first TLS connection.
        let contexts = try TLSContexts(settings.tls, isNeeded: settings.tls != TLSSettings())
        let credentials = CredentialStore(settings.credentials, proxy: settings.proxy)
        loop = settings.loops.next()
        let dialer = Dialer(settings, contexts: contexts, credentials: credentials, registry: registry, loop: loop)
        shared = SocketContext(settings, credentials: credentials, dialer: dialer)
    }

    package func open(
        _ request: ConnectionRequest,
        events: @escaping @Sendable (TransportEvent) -> Void
    ) -> any Transport {
        switch request.kind {
        case .webSocket:
            let transport = WebSocketTransport(request, shared, events: events)
            loop.execute { transport.start() }
            return transport
        case .httpStream, .httpPoll, .httpControl:
            let transport = HTTPTransport(request, shared, events: events)
            loop.execute { transport.start() }
            return transport
        }
    }

    /// Closes idle connections and waits until all connections are closed, forcibly after a time limit.
    package func shutDown() async {
        registry.close()
        loop.execute { [shared] in shared.pool.close() }
        let deadline = loop.scheduleTask(in: Self.shutdownTimeout) { [registry] in registry.closeChannels() }
        await registry.waitUntilEmpty()
        deadline.cancel()
    }
}

/// The settings of all connections of one client.
package struct SocketSettings: Sendable {
    package var loops: EventLoops
    /// The cookies sent and received.
    package var cookies: CookieJar
    /// How servers are verified.
    package var tls = TLSSettings()
    package var proxy: ProxySettings?
    /// The credentials for HTTP authentication; nil: none.
    package var credentials: HTTPCredentials?
    /// The least time limit of each step: TCP connection, `CONNECT`, TLS handshake and WebSocket handshake. It is longer where
    /// the response may take longer.
    package var connectTimeout: Duration = .seconds(10)
    /// The maximum length of a line, and of a WebSocket frame, in bytes.
    package var maxLineLength = 64 << 20
    /// Counts incomplete lines of more than 1 MiB; nil: they are not counted.
    package var lineBudget: LineBudget?
    /// The number of bytes not yet handled at which a connection is no longer read.
    package var receiveWindow = 1 << 20
    /// Changes requests before they are sent.
    package var decorate: @Sendable (inout OutgoingRequest) -> Void = { _ in }
    /// Whether challenges are answered at present.
    package var canAuthenticate: @Sendable () -> Bool = { false }
    /// Answers a challenge, now or later.
    package var authenticate: @Sendable (AuthenticationChallenge) -> Void = { $0.answer(.performDefaultHandling) }

    package init(loops: EventLoops, cookies: CookieJar) {
        self.loops = loops
        self.cookies = cookies
    }
}

/// Invalid TLS settings.
package struct TLSSettingsError: Error, Equatable {
    package let reason: String
}

/// The state that the transports of one client share.
///
/// `@unchecked Sendable`: all members are `Sendable` but `pool`, which is used on the client's thread only.
final class SocketContext: @unchecked Sendable {
    let settings: SocketSettings
    let credentials: CredentialStore
    let dialer: Dialer
    let pool: KeepAlivePool
    let heads: RequestHeadBuilder

    init(_ settings: SocketSettings, credentials: CredentialStore, dialer: Dialer) {
        self.settings = settings
        self.credentials = credentials
        self.dialer = dialer
        pool = KeepAlivePool(loop: dialer.loop)
        heads = RequestHeadBuilder(settings, credentials)
    }
}
