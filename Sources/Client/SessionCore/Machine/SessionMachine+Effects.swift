internal import TLCP

/// Building blocks of the decisions: each appends actions to the list of the current event.
extension SessionMachine {
    mutating func takeActions() -> [SessionAction] {
        for token in messages.takeReleased() { out.notify(.messageReleased(token)) }
        var actions: [SessionAction] = []
        swap(&actions, &out.actions)
        return actions
    }

    mutating func perform(_ effects: [SubscriptionEffect], at context: EventContext) {
        for effect in effects {
            switch effect {
            case .notify(let token, let event): out.notify(.subscription(token, event))
            case .requestsWaiting: sendPendingRequests(at: context)
            case .protocolViolation(let reason): return badData(reason, at: context)
            }
        }
    }

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
        out.open(
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
        out.open(
            TransportRequest(
                kind: kind,
                address: address,
                request: request,
                headers: headers(isCreation: isCreation)
            )
        )
    }

    private func headers(isCreation: Bool) -> [String: String] {
        guard isCreation || !options.httpExtraHeadersOnSessionCreationOnly else { return [:] }
        return session?.heldHeaders ?? options.httpExtraHeaders ?? [:]
    }

    /// Updates `currentConnectTimeout` after a change of the response timeout.
    mutating func noteResponseTimeout() {
        let seconds = responseTimeout.current.optionSeconds
        guard case .auto = options.connectTimeout, options.currentConnectTimeout != seconds else { return }
        options.currentConnectTimeout = seconds
        out.notify(.propertyChanged(.currentConnectTimeout(seconds)))
    }
}
