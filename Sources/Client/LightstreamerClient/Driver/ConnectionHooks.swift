internal import SessionCore
internal import TLCPTransports

/// What the configuration and the application decide about the connections of a client; apart from the choice of the connector, on
/// network threads.
struct ConnectionHooks: Sendable {
    let core: ClientCore

    /// The connector of the configuration, else one over sockets.
    func makeConnector() throws(ClientError) -> any TransportConnector {
        let configuration = core.configuration
        if let connector = configuration.connector { return connector }
        var settings = SocketSettings(loops: configuration.eventLoops, cookies: core.cookieJar)
        settings.tls = configuration.tls
        settings.proxy = configuration.proxy
        settings.credentials = configuration.httpCredentials
        settings.connectTimeout = configuration.tcpConnectTimeout
        settings.maxLineLength = configuration.maxLineLength
        settings.lineBudget = configuration.lineBudget
        settings.receiveWindow = configuration.receiveWindow
        // A connection may outlive the client, but not the core.
        settings.decorate = { request in decorate(&request) }
        settings.authenticate = { challenge in authenticate(challenge) }
        settings.canAuthenticate = { challenged != nil }
        do {
            return try SocketConnector(settings)
        } catch {
            throw ClientError(.invalidTLS, property: "tls", rule: error.reason)
        }
    }

    private func decorate(_ request: inout OutgoingRequest) {
        core.configuration.requestDecorator?(&request)
        let (client, listeners) = core.state.withLock { ($0.client, $0.legacyListeners) }
        guard let client else { return }
        for listener in listeners { listener.clientConnection(client, isAboutToSend: &request) }
    }

    /// The first delegate or listener that answers challenges.
    private var challenged: (@Sendable (LightstreamerClient, AuthenticationChallenge) -> Void)? {
        let (delegates, listeners) = core.state.withLock { ($0.delegates, $0.legacyListeners) }
        for case let delegate as any AuthenticationDelegate in delegates {
            return { delegate.client($0, willSendRequestFor: $1) }
        }
        for case let listener as any LegacyAuthenticationListener in listeners {
            return { listener.clientConnection($0, willSendRequestFor: $1) }
        }
        return nil
    }

    /// Passes a challenge to the first delegate or listener that answers; until it does, connection attempts have no time
    /// limit.
    func authenticate(_ challenge: AuthenticationChallenge) {
        guard let client = core.state.withLock({ $0.client }), let challenged else {
            return challenge.answer(.performDefaultHandling)
        }
        let id = ObjectIdentifier(challenge)
        core.send(.challengeStarted(id))
        let suspending = AuthenticationChallenge(
            kind: challenge.kind,
            host: challenge.host,
            port: challenge.port,
            previousFailureCount: challenge.previousFailureCount,
            handler: { answer in
                core.send(.challengeEnded(id))
                challenge.answer(answer)
            }
        )
        challenged(client, suspending)
    }
}

extension ConnectionRequest {
    /// Converts the machine's request; nil for an invalid address.
    init?(_ request: TransportRequest, pins: [String]) {
        guard let address = ServerAddress(request.address) else { return nil }
        let path = address.path.hasSuffix("/") ? address.path.dropLast() : address.path[...]
        // A request line has no bytes beyond ASCII.
        let prefix = path.utf8.map { byte in
            byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
        self.init(
            kind: request.kind,
            host: address.host,
            port: address.effectivePort,
            isSecure: address.scheme == "https",
            target: prefix.joined() + (request.request?.target ?? "/lightstreamer")
        )
        subprotocol = request.subprotocol ?? ""
        body = request.request?.body ?? []
        headers = request.headers
        responseTime = request.responseTime
        self.pins = pins.compactMap { CertificatePin($0) }
    }
}
