internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Opens channels: name lookup, TCP, tunnel through a proxy, TLS, pins. What comes out has no handler for HTTP yet.
final class Dialer: Sendable {
    /// How often in a row a challenge is put before the delegate.
    static let maxFailures = 5

    let settings: SocketSettings
    let contexts: TLSContexts
    let credentials: Credentials
    private let registry: ChannelRegistry
    let loop: any EventLoop

    init(
        _ settings: SocketSettings,
        contexts: TLSContexts,
        credentials: Credentials,
        registry: ChannelRegistry,
        loop: any EventLoop
    ) {
        self.settings = settings
        self.contexts = contexts
        self.credentials = credentials
        self.registry = registry
        self.loop = loop
    }

    /// Opens a channel. On `loop`; `opened` is told the channel as soon as there is one to close.
    func dial(
        _ endpoint: Endpoint,
        needsTunnel: Bool,
        failures: Int = 0,
        asksTrust: Bool = false,
        opened: @escaping @Sendable (any Channel) -> Void
    ) -> EventLoopFuture<any Channel> {
        let tunnels = settings.proxy != nil && (needsTunnel || endpoint.isSecure)
        return identity(for: endpoint)
            .flatMap { identity in
                self.connect(endpoint, opened: opened)
                    .flatMap { channel in
                        self.tunnel(tunnels, channel, to: endpoint)
                            .flatMap { self.secure(channel, endpoint, identity: identity, asksTrust: asksTrust) }
                            .flatMap { self.reviewTrust(channel, endpoint, isDone: asksTrust) }
                            .map { channel }
                            .flatMapErrorThrowing { error in
                                channel.close(promise: nil)
                                throw error
                            }
                    }
            }
            .flatMapError { error in
                if case DialFailure.proxyChallenge(let schemes) = error, self.settings.canAuthenticate() {
                    return self.answer(schemes, failures).flatMap {
                        self.dial(endpoint, needsTunnel: needsTunnel, failures: failures + 1, opened: opened)
                    }
                }
                // A handshake that failed may have failed for the server's certificate: the delegate may trust it still.
                if !asksTrust, self.isTLSFailure(error), self.settings.canAuthenticate() {
                    return self.dial(
                        endpoint,
                        needsTunnel: needsTunnel,
                        failures: failures,
                        asksTrust: true,
                        opened: opened
                    )
                }
                return self.loop.makeFailedFuture(error)
            }
    }

    // MARK: - Steps

    private func connect(
        _ endpoint: Endpoint,
        opened: @escaping @Sendable (any Channel) -> Void
    ) -> EventLoopFuture<any Channel> {
        let registry = registry
        return ClientBootstrap(group: loop)
            .connectTimeout(settings.timeout)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                guard registry.add(channel) else { return channel.eventLoop.makeFailedFuture(DialFailure.shutDown) }
                opened(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .connect(host: settings.proxy?.host ?? endpoint.host, port: settings.proxy?.port ?? endpoint.port)
    }

    private func tunnel(_ isNeeded: Bool, _ channel: any Channel, to endpoint: Endpoint) -> EventLoopFuture<Void> {
        guard isNeeded else { return loop.makeSucceededVoidFuture() }
        return step("proxy") { done in
            let tunnel = ProxyTunnel(to: endpoint, authorization: credentials.header(for: .proxy), done: done)
            try channel.pipeline.syncOperations.addHandler(tunnel)
        }
        .flatMap { self.remove(ProxyTunnel.self, from: channel) }
    }

    private func secure(
        _ channel: any Channel,
        _ endpoint: Endpoint,
        identity: TLSSettings.Identity?,
        asksTrust: Bool
    ) -> EventLoopFuture<Void> {
        guard endpoint.isSecure else { return loop.makeSucceededVoidFuture() }
        return step("TLS handshake") { done in
            let context = try contexts.context(identity: identity)
            // Literal addresses must not be sent as a server name; the certificate is checked against them all the same.
            let name = CookieDomain.isLiteral(endpoint.host) ? nil : endpoint.host
            let handler =
                asksTrust
                ? try askingHandler(context, endpoint, name)
                : try NIOSSLClientHandler(context: context, serverHostname: name)
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.pipeline.syncOperations.addHandler(TLSHandshakeGate(done: done))
        }
        .flatMapThrowing { try Self.check(endpoint.pins, of: channel) }
        .flatMap { self.remove(TLSHandshakeGate.self, from: channel) }
    }

    private static func check(_ pins: [CertificatePin], of channel: any Channel) throws {
        guard !pins.isEmpty else { return }
        let certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()
        guard let key = try certificate?.extractPublicKey().toSPKIBytes(),
            pins.contains(where: { $0.matches(publicKeyInfo: key) })
        else { throw DialFailure.pinMismatch }
    }

    private func remove<Handler: RemovableChannelHandler>(
        _ type: Handler.Type,
        from channel: any Channel
    ) -> EventLoopFuture<Void> {
        do {
            let handler = try channel.pipeline.syncOperations.handler(type: type)
            return channel.pipeline.syncOperations.removeHandler(handler)
        } catch {
            return loop.makeFailedFuture(error)
        }
    }

    /// One step with a deadline.
    private func step(_ name: String, _ begin: (EventLoopPromise<Void>) throws -> Void) -> EventLoopFuture<Void> {
        let done = loop.makePromise(of: Void.self)
        let deadline = loop.scheduleTask(in: settings.timeout) { done.fail(DialFailure.timeout(name)) }
        done.futureResult.whenComplete { _ in deadline.cancel() }
        do {
            try begin(done)
        } catch {
            done.fail(error)
        }
        return done.futureResult
    }
}

extension SocketSettings {
    /// `connectTimeout` as the network threads want it.
    var timeout: TimeAmount {
        let (seconds, attoseconds) = connectTimeout.components
        let bounded = min(max(seconds, 0), 1_000_000)
        return .nanoseconds(max(1, bounded * 1_000_000_000 + attoseconds / 1_000_000_000))
    }
}

/// Where connections go that may stand in for each other.
struct Endpoint: Hashable, Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    let pins: [CertificatePin]

    init(_ order: ConnectionRequest) {
        host = order.host
        port = order.port
        isSecure = order.isSecure
        pins = order.pins
    }

    /// The host and, unless it is the scheme's own, the port, as a `Host` header has them.
    var authority: String {
        port == (isSecure ? 443 : 80) ? bracketedHost : "\(bracketedHost):\(port)"
    }

    /// Host and port, as `CONNECT` has them.
    var hostAndPort: String { "\(bracketedHost):\(port)" }

    private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
