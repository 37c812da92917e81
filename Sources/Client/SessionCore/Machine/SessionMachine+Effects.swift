internal import TLCP

/// Building blocks of the decisions: each appends actions to the list of the current event.
extension SessionMachine {
    mutating func takeActions() -> [SessionAction] {
        for token in requests.messages.takeReleased() { out.notify(.messageReleased(token)) }
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

    // MARK: - Connections

    mutating func openSocket(at address: String, isCreation: Bool) -> ConnectionID {
        out.open(
            TransportRequest(
                kind: .webSocket,
                address: address,
                subprotocol: opening.version.webSocketSubprotocol,
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
        guard isCreation || !options.values.httpExtraHeadersOnSessionCreationOnly else { return [:] }
        return session?.heldHeaders ?? options.values.httpExtraHeaders ?? [:]
    }
}
