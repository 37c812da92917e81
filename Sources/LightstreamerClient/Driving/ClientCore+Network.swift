internal import SessionCore
internal import TLCP
internal import TLCPTransports

/// What the network threads ask a client for.
extension ClientCore {
    /// What the machine is told once and for all.
    func sessionConfiguration(for address: String?) -> SessionConfiguration {
        var session = SessionConfiguration()
        if let identifier = configuration.clientIdentifier { session.clientIdentifier = identifier }
        session.allowedAddresses = configuration.allowedAddresses
        session.protocolVersion =
            configuration.protocolVersion ?? address.flatMap { VersionMemory.shared.version(for: $0) } ?? .current
        return session
    }

    /// The maker of connections: of the configuration, else over sockets.
    func makeConnector() throws(ClientError) -> any TransportConnector {
        if let connector = configuration.connector { return connector }
        var settings = SocketSettings(loops: configuration.eventLoops, cookies: cookieJar)
        settings.tls = configuration.tls
        settings.proxy = configuration.proxy
        settings.connectTimeout = configuration.tcpConnectTimeout
        settings.maxLineLength = configuration.maxLineLength
        settings.receiveWindow = configuration.receiveWindow
        // The core outlives the connections, the client need not.
        settings.decorate = { [self] request in decorate(&request) }
        settings.authenticate = { [self] challenge in authenticate(challenge) }
        settings.canAuthenticate = { [self] in challenged != nil }
        do {
            return try SocketConnector(settings)
        } catch {
            throw ClientError(.invalidTLS, property: "tls", rule: error.reason)
        }
    }

    private func decorate(_ request: inout OutgoingRequest) {
        configuration.requestDecorator?(&request)
        let (client, listeners) = state.withLock { ($0.client, $0.legacyListeners) }
        guard let client else { return }
        for listener in listeners { listener.clientConnection(client, isAboutToSend: &request) }
    }

    /// Who answers challenges: the first that can.
    private var challenged: (@Sendable (LightstreamerClient, AuthenticationChallenge) -> Void)? {
        let (delegates, listeners) = state.withLock { ($0.delegates, $0.legacyListeners) }
        for case let delegate as any AuthenticationDelegate in delegates {
            return { delegate.client($0, willSendRequestFor: $1) }
        }
        for case let listener as any LegacyAuthenticationListener in listeners {
            return { listener.clientConnection($0, willSendRequestFor: $1) }
        }
        return nil
    }

    private func authenticate(_ challenge: AuthenticationChallenge) {
        guard let client = state.withLock({ $0.client }), let challenged else {
            return challenge.answer(.performDefaultHandling)
        }
        challenged(client, challenge)
    }
}
