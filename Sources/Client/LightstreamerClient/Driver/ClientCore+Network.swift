internal import Primitives
internal import SessionCore
internal import TLCP
internal import TLCPTransports

/// Functions called on network threads.
extension ClientCore {
    /// The settings of the machine.
    func sessionConfiguration(for address: String?) -> SessionConfiguration {
        var session = SessionConfiguration()
        if let identifier = configuration.clientIdentifier { session.clientIdentifier = identifier }
        session.allowedAddresses = configuration.allowedAddresses
        session.numbersNotifications = configuration.handover != nil
        session.refusesOversizedRequests = configuration.refusesOversizedRequests
        session.protocolVersion =
            configuration.protocolVersion ?? address.flatMap { VersionMemory.shared.version(for: $0) } ?? .current
        return session
    }

    /// The connector of the configuration, else one over sockets.
    func makeConnector() throws(ClientError) -> any TransportConnector {
        if let connector = configuration.connector { return connector }
        var settings = SocketSettings(loops: configuration.eventLoops, cookies: cookieJar)
        settings.tls = configuration.tls
        settings.proxy = configuration.proxy
        settings.credentials = configuration.httpCredentials
        settings.connectTimeout = configuration.tcpConnectTimeout
        settings.maxLineLength = configuration.maxLineLength
        settings.receiveWindow = configuration.receiveWindow
        // A connection may outlive the client, but not the core.
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

    /// The first delegate or listener that answers challenges.
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

    /// Passes a challenge to the first delegate or listener that answers; until it does, connection
    /// attempts have no time limit.
    func authenticate(_ challenge: AuthenticationChallenge) {
        guard let client = state.withLock({ $0.client }), let challenged else {
            return challenge.answer(.performDefaultHandling)
        }
        send(.challengeStarted)
        let suspending = AuthenticationChallenge(
            kind: challenge.kind,
            host: challenge.host,
            port: challenge.port,
            previousFailureCount: challenge.previousFailureCount,
            handler: { [self] answer in
                send(.challengeEnded)
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
        let prefix = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
        self.init(
            kind: request.kind,
            host: address.host,
            port: address.effectivePort,
            isSecure: address.scheme == "https",
            target: prefix + (request.request?.target ?? "/lightstreamer")
        )
        subprotocol = request.subprotocol ?? ""
        body = request.request?.body ?? []
        headers = request.headers
        self.pins = pins.compactMap { CertificatePin($0) }
    }
}

extension ConnectionOptionValues {
    /// Applies a change made by the server or by the library.
    mutating func take(_ change: PropertyChange) {
        switch change {
        case .keepaliveInterval(let seconds): keepaliveInterval = seconds
        case .idleTimeout(let seconds): idleTimeout = seconds
        case .pollingInterval(let seconds): pollingInterval = seconds
        case .currentConnectTimeout(let seconds): currentConnectTimeout = seconds
        case .sessionId, .serverInstanceAddress, .serverSocketName, .clientIp, .realMaxBandwidth: break
        }
    }
}

/// The protocol versions that servers were found to support, for clients created later in this process.
final class VersionMemory: Sendable {
    /// The instance of the process.
    static let shared = VersionMemory()
    /// The maximum number of addresses; when it is reached all are removed.
    private static let bound = 1_000

    private let versions = RankedMutex<[String: ProtocolVersion]>([:])

    func remember(_ version: ProtocolVersion, for address: String) {
        versions.withLock { versions in
            if versions.count >= Self.bound { versions = [:] }
            versions[address] = version
        }
    }

    func version(for address: String) -> ProtocolVersion? { versions.withLock { $0[address] } }
}
