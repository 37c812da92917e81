internal import SessionCore
internal import Synchronization

/// The calls of a client: checked on the caller's thread, performed by the driver.
extension ClientCore {
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
            let properties = try subscription.activate(token, on: self, observer: observer)
            state.subscriptions[token] = subscription
            mailbox.put(.subscribe(subscription, token, properties))
        }
    }

    func unsubscribe(_ subscription: Subscription) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            guard let token = try subscription.deactivate(on: self) else { return }
            state.subscriptions[token] = nil
            mailbox.put(.unsubscribe(token))
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

    static let addressError = ClientError(
        .noServerAddress,
        property: "serverAddress",
        rule: "Configure the server address before trying to connect"
    )
    static let shutDownError = ClientError(.shutDown, rule: "The client was shut down")
    private static let overloadError = ClientError(.overloaded, rule: "Too many messages wait to be sent")
}

extension ServerAddress {
    /// The key of the server in the count of sessions.
    var censusKey: String { "\(host.lowercased()):\(effectivePort)" }
}

extension ClientCore {
    private static let nextToken = Atomic<UInt64>(1)

    /// A number that no client of the process has used before: a subscription may pass from one client to another while the
    /// first one still has events of it.
    private static func makeToken() -> UInt64 { nextToken.wrappingAdd(1, ordering: .relaxed).oldValue }
}
