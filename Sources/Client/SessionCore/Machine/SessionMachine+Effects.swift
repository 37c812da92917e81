internal import TLCP

/// Building blocks of the decisions: each appends actions to the list of the current event.
extension SessionMachine {
    mutating func emit(_ action: SessionAction) { out.append(action) }

    mutating func takeActions() -> [SessionAction] {
        for token in messages.takeReleased() { emit(.notify(.messageReleased(token))) }
        var actions: [SessionAction] = []
        swap(&actions, &out)
        return actions
    }

    mutating func perform(_ effects: [SubscriptionEffect], at context: EventContext) {
        for effect in effects {
            switch effect {
            case .notify(let token, let event): emit(.notify(.subscription(token, event)))
            case .requestsWaiting: sendPendingRequests(at: context)
            case .protocolViolation(let reason): return badData(reason, at: context)
            }
        }
    }

    mutating func perform(_ effects: [MessageEffect]) {
        for effect in effects {
            switch effect {
            case .notify(let token, let outcome): emit(.notify(.message(token, outcome)))
            case .release(let token): emit(.notify(.messageReleased(token)))
            }
        }
    }

    mutating func startTimer(_ purpose: SessionTimer.Purpose, after delay: Duration) {
        out += timers.start(purpose, after: delay)
    }

    mutating func stopTimer(_ purpose: SessionTimer.Purpose) { out += timers.stop(purpose) }

    mutating func setStatus(_ newStatus: ClientStatus) {
        guard status != newStatus else { return }
        status = newStatus
        emit(.notify(.statusChanged(newStatus)))
    }

    /// Sets a property of the session; notified only if the value changed.
    mutating func setProperty(_ change: PropertyChange) {
        if properties.apply(change) { emit(.notify(.propertyChanged(change))) }
    }

    mutating func notifyLegacy(_ event: LegacyEvent) { emit(.notify(.legacy(event))) }

    mutating func takeCause() -> String? {
        defer { cause = nil }
        return cause
    }

    /// How long a response may take now.
    var responseTime: Duration { responseTimeout.value(for: options.connectTimeout) }

    /// Shorter delays count as this one: a client that cannot connect would use a whole processor and flood its server.
    private static let leastRetryDelay = Duration.milliseconds(100)

    static func retryDelay(_ options: ConnectionOptionValues) -> Duration {
        max(leastRetryDelay, Duration(optionSeconds: options.retryDelay))
    }

    var retryDelay: Duration { Self.retryDelay(options) }

    // MARK: - Connections

    mutating func openSocket(at address: String, isCreation: Bool) -> ConnectionID {
        open(
            TransportRequest(
                kind: .webSocket,
                address: address,
                subprotocol: version.current.webSocketSubprotocol,
                headers: headers(isCreation: isCreation)
            )
        )
    }

    mutating func openRequest(
        _ kind: TransportKind,
        at address: String,
        _ request: TransportRequest.Request,
        isCreation: Bool = false
    ) -> ConnectionID {
        open(
            TransportRequest(
                kind: kind,
                address: address,
                request: request,
                headers: headers(isCreation: isCreation)
            )
        )
    }

    private mutating func open(_ request: TransportRequest) -> ConnectionID {
        let connection = connections.opened()
        emit(.openTransport(connection, request))
        return connection
    }

    private func headers(isCreation: Bool) -> [String: String] {
        guard isCreation || !options.httpExtraHeadersOnSessionCreationOnly else { return [:] }
        return session?.heldHeaders ?? options.httpExtraHeaders ?? [:]
    }

    /// Closes a connection, unless it has ended by itself.
    mutating func close(_ connection: ConnectionID?) {
        if let connection, connections.ended(connection) { emit(.closeTransport(connection)) }
    }

    /// Releases an HTTP response whose last line was received.
    mutating func release(_ connection: ConnectionID?) {
        if let connection, connections.ended(connection) { emit(.releaseTransport(connection)) }
    }

    /// Updates `currentConnectTimeout` after a change of the response timeout.
    mutating func noteResponseTimeout() {
        let seconds = responseTimeout.current.optionSeconds
        guard case .auto = options.connectTimeout, options.currentConnectTimeout != seconds else { return }
        options.currentConnectTimeout = seconds
        emit(.notify(.propertyChanged(.currentConnectTimeout(seconds))))
    }
}
