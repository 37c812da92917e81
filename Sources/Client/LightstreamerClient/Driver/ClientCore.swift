internal import Primitives
internal import SessionCore
internal import Synchronization
internal import TLCP

/// The state shared by a client's public objects, and the queue of the driver: calls are checked on the caller's thread, and
/// performed by the driver. It outlives the client until the driver has ended.
final class ClientCore: Sendable {
    static let addressError = ClientError(
        .noServerAddress,
        property: "serverAddress",
        rule: "Configure the server address before trying to connect"
    )
    static let shutDownError = ClientError(.shutDown, rule: "The client was shut down")
    private static let overloadError = ClientError(.overloaded, rule: "Too many messages wait to be sent")

    private static let nextToken = Atomic<UInt64>(1)

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

    // MARK: - Inputs of the driver

    /// Queues an input for the driver; dropped after shutdown, which returns false.
    @discardableResult
    func send(_ input: DriverInput) -> Bool {
        state.withLock { state in
            if !state.isShutDown { mailbox.put(input) }
            return !state.isShutDown
        }
    }

    /// Calls a closure in the order of events; false after shutdown.
    @discardableResult
    func perform(_ body: @escaping @Sendable (EventDelivery) -> Void) -> Bool { send(.perform(body)) }

    /// Calls a closure in the order of events, also during a shutdown. After the last event of the client it is called at once,
    /// without the delivery.
    func performAlways(_ body: @escaping LastCall) {
        let isOver = state.withLock { state in
            if !state.isShutDown {
                mailbox.put(.perform(body))
                return false
            }
            state.lastCalls?.append(body)
            return state.lastCalls == nil
        }
        if isOver { body(nil) }
    }

    /// The calls that wait for the last event; nil: none, and later ones do not wait.
    func takeLastCalls() -> [LastCall]? {
        state.withLock { state in
            let calls = state.lastCalls ?? []
            state.lastCalls = calls.isEmpty ? nil : []
            return calls.isEmpty ? nil : calls
        }
    }

    func beginShutdown() {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.isShutDown = true
            mailbox.put(.shutDown)
        }
    }

    /// Why a call has closed the connection.
    var closure: SubscriptionStop { state.withLock { $0.isShutDown ? .shutDown : .disconnected } }

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

    // MARK: - Connecting

    func connect() throws(ClientError) {
        try checkConnection()
        send(.connect)
    }

    private func checkConnection() throws(ClientError) {
        let (address, isShutDown, begins) = state.withLock { state in
            let isPausing = state.status == .disconnected || state.status == .disconnectedWillRetry
            return (state.details.serverAddress, state.isShutDown, isPausing || state.pendingDisconnects > 0)
        }
        if isShutDown { throw Self.shutDownError }
        guard let address, let server = ServerAddress(address) else { throw Self.addressError }
        if begins { try followSessionLimit(of: server) }
    }

    /// Connects unless a session exists or an attempt is under way. The driver decides, after all inputs so far: one of them
    /// may be the refusal that ends the attempt. Throws as `connect` does.
    ///
    /// - Parameters:
    ///   - isWanted: Whether the caller still waits for the session; asked on the driver's task.
    ///   - fail: Is called on the driver's task if there is no server address any more.
    func connectIfDisconnected(
        while isWanted: @escaping @Sendable () -> Bool,
        orElse fail: @escaping @Sendable (ClientError) -> Void
    ) throws(ClientError) {
        let isIdle = state.withLock { $0.status == .disconnected || $0.pendingDisconnects > 0 }
        if isIdle { try checkConnection() }
        guard send(.connectIfDisconnected(isWanted, fail)) else { throw Self.shutDownError }
    }

    /// Applies the limit of concurrent sessions to a new connection.
    private func followSessionLimit(of server: ServerAddress) throws(ClientError) {
        switch SessionCensus.shared.policyIfExceeded(server: server.censusKey, client: ObjectIdentifier(self)) {
        case nil, .some(.none): break
        case .usePolling:
            try updateOptions { options in
                options.forcedTransport = .httpPolling
                options.idleTimeout = 0
                options.pollingInterval = max(options.pollingInterval, 1)
            }
        case .block:
            throw ClientError(
                .tooManySessions,
                property: "maxConcurrentSessionsPerServer",
                rule: "The maximum number of concurrent sessions for this server is reached"
            )
        }
    }

    func disconnect() {
        state.withLock { state in
            guard !state.isShutDown else { return }
            state.pendingDisconnects += 1
            mailbox.put(.disconnect)
        }
    }

    // MARK: - Adoption

    func adopt(_ session: OfferedSession, _ subscriptions: [(Subscription, number: Int, table: ValueTable)]) {
        state.withLock { state in
            guard !state.isShutDown else { return }
            var adopted: [AdoptedSubscription] = []
            var active: [(Subscription, SubscriptionToken)] = []
            for (subscription, number, table) in subscriptions {
                let token = SubscriptionToken(Self.makeToken())
                guard (try? subscription.activate(token, on: self, with: table)) != nil else { continue }
                state.subscriptions[token] = subscription
                active.append((subscription, token))
                adopted.append(AdoptedSubscription(token: token, number: number, table: table))
            }
            mailbox.put(.adopt(session, adopted, active))
        }
    }

    // MARK: - Subscriptions

    func subscribe(_ subscription: Subscription, observer: (any SubscriptionObserver)? = nil) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            if state.isShutDown { throw Self.shutDownError }
            let token = SubscriptionToken(Self.makeToken())
            try subscription.activate(token, on: self, observer: observer)
            state.subscriptions[token] = subscription
        }
    }

    func unsubscribe(_ subscription: Subscription) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            guard let token = try subscription.deactivate(on: self) else { return }
            state.subscriptions[token] = nil
            mailbox.put(.unsubscribe(token))
        }
    }

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

    // MARK: - Messages

    func sendMessage(
        _ text: String,
        sequence: String?,
        delayTimeout: Double?,
        enqueueWhileDisconnected: Bool,
        wantsOutcome: Bool,
        from sender: String? = nil,
        retaining retained: (any Sendable)? = nil,
        onOutcome: MessageOutcomeHandler?
    ) throws(ClientError) -> MessageToken {
        try Self.checkMessage(sequence: sequence, delayTimeout: delayTimeout)
        let result: Result<MessageToken, ClientError> = state.withLock { state in
            if state.isShutDown { return .failure(Self.shutDownError) }
            guard state.messages.add(text, within: configuration) else { return .failure(Self.overloadError) }
            state.counters.messages &+= 1
            let pending = PendingMessage(
                MessageToken(Self.makeToken()),
                text: text,
                sequence: sequence,
                delayTimeout: delayTimeout,
                hasDelegate: wantsOutcome,
                from: sender
            )
            let message = OutgoingMessage(
                pending: pending,
                onOutcome: onOutcome,
                enqueueWhileDisconnected: enqueueWhileDisconnected,
                retained: retained
            )
            mailbox.put(.sendMessage(message))
            return .success(pending.token)
        }
        return try result.get()
    }

    /// Throws for a bad sequence name or timeout. `UNORDERED_MESSAGES` is admitted, and means no sequence.
    private static func checkMessage(sequence: String?, delayTimeout: Double?) throws(ClientError) {
        if let sequence, !MessageLedger.isSequenceName(sequence) {
            let rule = "The given sequence name is not valid. Use only alphanumeric characters plus underscore or null"
            throw .invalid("sequence", sequence, rule)
        }
        if let delayTimeout, !(delayTimeout.isFinite && delayTimeout <= ConnectionOption.longestTime) {
            throw .invalid("delayTimeout", "\(delayTimeout)", "must be a number of seconds")
        }
    }

    /// A number that no client of the process has used before: a subscription may pass from one client to another while the
    /// first one still has events of it.
    private static func makeToken() -> UInt64 { nextToken.wrappingAdd(1, ordering: .relaxed).oldValue }
}
