internal import Primitives
internal import SessionCore
internal import Synchronization
internal import TLCP
internal import TLCPTransports

/// The state shared by a client's public objects, and the queue of the driver. It outlives the client until the
/// driver has ended.
final class ClientCore: Sendable {
    let state: RankedMutex<ClientState>
    let mailbox = Mailbox<DriverInput>()
    let configuration: ClientConfiguration
    let cookieJar: CookieJar
    /// `ClientCounters.updates`, which changes too often for the lock.
    let updates = Atomic<UInt64>(0)
    let bytesReceived = Atomic<UInt64>(0)
    let linesReceived = Atomic<UInt64>(0)
    /// See `LightstreamerClient.notificationNumber`.
    let notificationNumber = Atomic(0)
    /// Counts the inputs, and the slices of lines, that the driver has begun to handle.
    let rounds = Atomic<UInt64>(0)
    /// See `LightstreamerClient.isSessionOffered`.
    let isSessionOffered = Atomic(false)

    init(configuration: ClientConfiguration) {
        self.configuration = configuration
        cookieJar = configuration.cookieJar ?? CookieJar()
        state = RankedMutex(ClientState(options: configuration.edition.defaultOptions), rank: .clientCore)
    }

    // MARK: - Options

    func updateOptions(_ change: (inout ConnectionOptionValues) -> Void) throws(ClientError) {
        let old = state.withLock { $0.options }
        var (new, requested) = (old.values, old.requested)
        change(&new)
        change(&requested)
        let changed = ConnectionOption.all.filter { $0.differs(old.values, new) }
        let asked = ConnectionOption.all.filter { $0.differs(old.requested, requested) }
        for property in ConnectionOption.all {
            if let violation = property.violation(in: new) { throw violation }
        }
        state.withLock { state in
            state.options.request(asked, from: requested)
            state.options.set(changed, from: new)
            // Inside the lock, so that the driver sees changes in the order in which getters do.
            if !changed.isEmpty, !state.isShutDown { mailbox.put(.optionsChanged(changed, new)) }
        }
    }

    // MARK: - Details

    /// Changes details, and the certificate pins unless they are nil, at once: no session is created with some of the changes.
    func updateDetails(pins: [String]? = nil, _ change: (inout ConnectionDetailValues) -> Void) {
        state.withLock { state in
            let (old, oldPins) = (state.details, state.certificatePins)
            change(&state.details)
            state.certificatePins = pins ?? oldPins
            let (new, newPins) = (state.details, state.certificatePins)
            if state.isShutDown { return }
            let details = [
                ("serverAddress", \ConnectionDetailValues.serverAddress), ("adapterSet", \.adapterSet),
                ("user", \.user), ("password", \.password),
            ]
            for (name, path) in details where !new[keyPath: path].hasSameBytes(as: old[keyPath: path]) {
                mailbox.put(.detailsChanged(name, new, pins: newPins))
            }
            if newPins != oldPins { mailbox.put(.detailsChanged("certificatePins", new, pins: newPins)) }
        }
    }

    /// Throws for an address that `serverAddress` may not have.
    func check(address: String?) throws(ClientError) {
        guard let address else { return }
        guard ServerAddress(address) != nil else {
            throw .invalid("serverAddress", address, "must be an http or https URL without a query")
        }
        guard configuration.allowedAddresses?.allows(address) ?? true else {
            throw ClientError(
                .addressNotAllowed,
                property: "serverAddress",
                value: address,
                rule: "is not one of the addresses that may be connected to"
            )
        }
    }

    /// Throws for pins that `certificatePins` may not have.
    func check(pins: [String]) throws(ClientError) {
        for pin in pins where CertificatePin(pin) == nil {
            throw .invalid("certificatePins", pin, "must be sha256/ or sha1/ followed by a digest in base64")
        }
    }

    // MARK: - Subscriptions

    /// Applies an event to a subscription, and removes the subscription from the list of active subscriptions if the event ends
    /// the activity: under one lock, since the application may subscribe again at once.
    func apply(
        ending event: SubscriptionEvent,
        of token: SubscriptionToken,
        to subscription: Subscription,
        at now: Moment
    ) -> [any SubscriptionObserver] {
        state.withLock { state in
            let (hasEnded, observers) = subscription.take(event, of: token, at: now)
            if hasEnded { state.subscriptions[token] = nil }
            return observers
        }
    }

    // MARK: - Connections; functions called on network threads

    func sessionConfiguration(for address: String?) -> SessionConfiguration {
        var session = SessionConfiguration()
        if let identifier = configuration.clientIdentifier { session.clientIdentifier = identifier }
        session.allowedAddresses = configuration.allowedAddresses
        session.numbersNotifications = configuration.handover != nil
        session.refusesOversizedRequests = configuration.refusesOversizedRequests
        session.outlivesMalformedRequests = configuration.outlivesMalformedRequests
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
        settings.lineBudget = configuration.lineBudget
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
        let id = ObjectIdentifier(challenge)
        send(.challengeStarted(id))
        let suspending = AuthenticationChallenge(
            kind: challenge.kind,
            host: challenge.host,
            port: challenge.port,
            previousFailureCount: challenge.previousFailureCount,
            handler: { [self] answer in
                send(.challengeEnded(id))
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
