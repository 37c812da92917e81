internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Opens channels: name lookup, TCP, proxy tunnel, TLS, pins. The caller adds the handlers for HTTP or WebSocket.
final class Dialer: Sendable {
    /// The maximum number of consecutive challenges of one connection.
    private static let maxFailures = 5
    /// The unwritten bytes from which on a channel is not writable, and the number at which it is writable again.
    private static let writeBuffer = ChannelOptions.Types.WriteBufferWaterMark(low: 256 << 10, high: 1 << 20)

    private let settings: SocketSettings
    private let contexts: TLSContexts
    private let credentials: CredentialStore
    private let registry: ChannelRegistry
    let loop: any EventLoop

    init(
        _ settings: SocketSettings,
        contexts: TLSContexts,
        credentials: CredentialStore,
        registry: ChannelRegistry,
        loop: any EventLoop
    ) {
        self.settings = settings
        self.contexts = contexts
        self.credentials = credentials
        self.registry = registry
        self.loop = loop
    }

    /// Opens a channel; `limit` is the time of each step. Called on `loop`; `opened` receives the channel as soon as it can be
    /// closed.
    func dial(
        _ endpoint: Endpoint,
        needsTunnel: Bool,
        within limit: TimeAmount,
        failures: Int = 0,
        delegatesTrust: Bool = false,
        opened: @escaping @Sendable (any Channel) -> Void
    ) -> EventLoopFuture<any Channel> {
        let tunnels = settings.proxy != nil && (needsTunnel || endpoint.isSecure)
        @Sendable func redial(failures: Int, delegatesTrust: Bool) -> EventLoopFuture<any Channel> {
            dial(
                endpoint,
                needsTunnel: needsTunnel,
                within: limit,
                failures: failures,
                delegatesTrust: delegatesTrust,
                opened: opened
            )
        }
        return identity(for: endpoint)
            .flatMap { identity in
                self.connect(endpoint, within: limit, opened: opened)
                    .flatMap { channel in
                        self.tunnel(tunnels, channel, to: endpoint, within: limit)
                            .flatMap {
                                self.secure(channel, endpoint, identity, within: limit, delegatesTrust: delegatesTrust)
                            }
                            .map { channel }
                            .flatMapErrorThrowing { error in
                                channel.close(promise: nil)
                                throw error
                            }
                    }
            }
            .flatMapError { error in
                if case DialFailure.proxyChallenge(let schemes) = error, let proxy = self.settings.proxy {
                    return self.answer(HTTPChallenge(schemes, of: proxy), failures: failures).flatMap { isAnswered in
                        isAnswered
                            ? redial(failures: failures + 1, delegatesTrust: false)
                            : self.loop.makeFailedFuture(DialFailure.proxyRefused(status: 407))
                    }
                }
                guard !delegatesTrust, self.settings.canAuthenticate(), self.isTLSFailure(error) else {
                    return self.loop.makeFailedFuture(error)
                }
                // The reason may be the certificate of the server, which the delegate can still trust.
                return redial(failures: failures, delegatesTrust: true)
            }
    }

    // MARK: - Steps

    private func connect(
        _ endpoint: Endpoint,
        within limit: TimeAmount,
        opened: @escaping @Sendable (any Channel) -> Void
    ) -> EventLoopFuture<any Channel> {
        let registry = registry
        let host = settings.proxy?.host ?? endpoint.host
        let port = settings.proxy?.port ?? endpoint.port
        return ClientBootstrap(group: loop)
            .resolver(NameQuery(host: host, port: port, on: loop))
            .connectTimeout(limit)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: Self.writeBuffer)
            .channelInitializer { channel in
                guard registry.add(channel) else { return channel.eventLoop.makeFailedFuture(DialFailure.shutDown) }
                opened(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .connect(host: host, port: port)
            .flatMapErrorThrowing { [settings] error in
                throw settings.proxy == nil ? error : DialFailure.ofProxy(error)
            }
    }

    private func tunnel(
        _ isNeeded: Bool,
        _ channel: any Channel,
        to endpoint: Endpoint,
        within limit: TimeAmount
    ) -> EventLoopFuture<Void> {
        guard isNeeded else { return loop.makeSucceededVoidFuture() }
        return step("proxy", within: limit) { done, _ in
            let tunnel = ProxyTunnel(to: endpoint, credentials, done: done)
            try channel.pipeline.syncOperations.addHandler(tunnel)
        }
        .flatMap { self.remove(ProxyTunnel.self, from: channel) }
        .flatMapErrorThrowing { throw DialFailure.ofProxy($0) }
    }

    /// Encrypts a channel, and checks the certificates of the server.
    private func secure(
        _ channel: any Channel,
        _ endpoint: Endpoint,
        _ identity: TLSSettings.Identity?,
        within limit: TimeAmount,
        delegatesTrust: Bool
    ) -> EventLoopFuture<Void> {
        guard endpoint.isSecure else { return loop.makeSucceededVoidFuture() }
        let chain = VerifiedChain()
        return step("TLS handshake", within: limit) { done, deadline in
            let context = try contexts.context(identity: identity)
            // A literal address is no valid server name (RFC 6066 section 3); the certificate is
            // still checked against it.
            let name = CookieDomain.isLiteral(endpoint.host) ? nil : endpoint.host
            let handler =
                delegatesTrust
                ? try delegatedTrustHandler(context, endpoint, name, deadline)
                : try chain.handler(context, serverName: name)
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.pipeline.syncOperations.addHandler(TLSHandshakeGate(done: done))
        }
        .flatMapErrorThrowing { error in
            throw chain.rejection().map { DialFailure.certificate($0) } ?? error
        }
        .flatMapThrowing { try Self.check(endpoint.pins, of: channel, chain) }
        .flatMap { self.remove(TLSHandshakeGate.self, from: channel) }
        .flatMap { self.reviewTrust(channel, endpoint, isDone: delegatesTrust) }
    }

    /// Compares the pins with the verified chain, or with the server's certificate alone if no chain was verified.
    private static func check(_ pins: [CertificatePin], of channel: any Channel, _ chain: VerifiedChain) throws {
        guard !pins.isEmpty else { return }
        var certificates = chain.certificates
        if let leaf = try channel.pipeline.syncOperations.nioSSL_peerCertificate() { certificates.append(leaf) }
        for certificate in certificates {
            let key = try certificate.extractPublicKey().toSPKIBytes()
            if pins.contains(where: { $0.matches(publicKeyInfo: key) }) { return }
        }
        throw DialFailure.pinMismatch
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

    /// Runs one step with a deadline.
    func step<Value: Sendable>(
        _ name: String,
        within limit: TimeAmount,
        _ begin: (EventLoopPromise<Value>, StepDeadline) throws -> Void
    ) -> EventLoopFuture<Value> {
        let done = loop.makePromise(of: Value.self)
        let deadline = StepDeadline(on: loop, after: limit) { done.fail(DialFailure.timeout(name)) }
        done.futureResult.whenComplete { _ in deadline.cancel() }
        do {
            try begin(done, deadline)
        } catch {
            done.fail(error)
        }
        return done.futureResult
    }

    // MARK: - Challenges

    /// The client certificate of the settings, else the one that the delegate provides.
    private func identity(for endpoint: Endpoint) -> EventLoopFuture<TLSSettings.Identity?> {
        guard endpoint.isSecure, !contexts.hasIdentity, settings.canAuthenticate() else {
            return loop.makeSucceededFuture(nil)
        }
        return ask(.clientCertificate, host: endpoint.host, port: endpoint.port, failures: 0).flatMapThrowing {
            switch $0 {
            case .use(.identity(let identity)): return identity
            case .cancel: throw DialFailure.cancelled
            default: return nil
            }
        }
    }

    /// Whether an error came from TLS.
    private func isTLSFailure(_ error: any Error) -> Bool {
        if case DialFailure.certificate = error { return true }
        return error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
    }

    /// A TLS handler that accepts the certificates of the server only if the delegate trusts them.
    private func delegatedTrustHandler(
        _ context: NIOSSLContext,
        _ endpoint: Endpoint,
        _ name: String?,
        _ deadline: StepDeadline
    ) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
            let chain = certificates.compactMap { try? $0.toDERBytes() }
            deadline.pause()
            self.ask(.serverTrust(certificates: chain), host: endpoint.host, port: endpoint.port, failures: 1)
                .whenSuccess {
                    deadline.resume()
                    promise.succeed($0 == .use(.trust) ? .certificateVerified : .failed)
                }
        }
    }

    /// Asks the delegate about the certificate that the TLS settings accept, unless the delegate has already decided.
    private func reviewTrust(_ channel: any Channel, _ endpoint: Endpoint, isDone: Bool) -> EventLoopFuture<Void> {
        guard !isDone, settings.canAuthenticate() else { return loop.makeSucceededVoidFuture() }
        let certificate: [UInt8]
        do {
            certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes() ?? []
        } catch {
            return loop.makeFailedFuture(error)
        }
        return ask(.serverTrust(certificates: [certificate]), host: endpoint.host, port: endpoint.port, failures: 0)
            .flatMapThrowing { if $0 == .cancel { throw DialFailure.cancelled } }
    }

    /// Prepares another attempt after a response, with the configured credentials, else with those of the delegate;
    /// rejected credentials are forgotten. The future, on `loop`, is false without credentials or challenge.
    func answer(_ challenge: HTTPChallenge?, failures: Int) -> EventLoopFuture<Bool> {
        guard let challenge else { return loop.makeSucceededFuture(false) }
        let (space, schemes, host) = (challenge.space, challenge.schemes, challenge.host)
        if credentials.useConfigured(for: space, host: host, schemes, failures: failures) {
            return loop.makeSucceededFuture(true)
        }
        credentials.forget(space)
        guard settings.canAuthenticate(), failures < Self.maxFailures else { return loop.makeSucceededFuture(false) }
        return ask(challenge.kind, host: host, port: challenge.port, failures: failures).map {
            self.credentials.take($0, for: space, schemes)
        }
    }

    /// Passes a challenge to the delegate; the future is on `loop`.
    func ask(
        _ kind: AuthenticationChallenge.Kind,
        host: String,
        port: Int,
        failures: Int
    ) -> EventLoopFuture<AuthenticationChallenge.Answer> {
        let promise = loop.makePromise(of: AuthenticationChallenge.Answer.self)
        settings.authenticate(
            AuthenticationChallenge(
                kind: kind,
                host: host,
                port: port,
                previousFailureCount: failures,
                handler: { promise.succeed($0) }
            )
        )
        return promise.futureResult
    }
}

extension SocketSettings {
    /// The time limit of each step of a connection. If the response may take longer than `connectTimeout`, the limit is later:
    /// the caller closes the connection before.
    func timeout(of request: ConnectionRequest) -> TimeAmount {
        let isLonger = request.responseTime >= connectTimeout
        let limit = isLonger ? request.responseTime + .seconds(1) : connectTimeout
        return TimeAmount(min(max(limit, .nanoseconds(1)), .seconds(1_000_000)))
    }
}

/// The target of a connection; connections with equal endpoints are interchangeable.
struct Endpoint: Hashable, Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    let pins: [CertificatePin]

    init(_ request: ConnectionRequest) {
        host = request.host
        port = request.port
        isSecure = request.isSecure
        pins = request.pins
    }

    /// The value of a `Host` header: the host and, unless it is the default of the scheme, the port.
    var authority: String { port == (isSecure ? 443 : 80) ? bracketedHost : "\(bracketedHost):\(port)" }

    /// Host and port, the target of `CONNECT`.
    var hostAndPort: String { "\(bracketedHost):\(port)" }

    private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
