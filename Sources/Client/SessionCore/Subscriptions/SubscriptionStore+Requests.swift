package import TLCP

extension SubscriptionStore {
    /// The control requests to be (re)sent now, in order, each with a fresh identifier; they count as written.
    ///
    /// The order is that of creation; a reconf of a first level comes after those of its second levels. `acknowledged`
    /// is false over a WebSocket, where `SUBOK`, `SUBCMD` and `UNSUB` are sufficient answers. `fits` is called for each
    /// request; the first one that does not fit stays pending, with all that follow.
    package mutating func takePendingRequests(
        atMost count: Int = .max,
        acknowledged: Bool,
        ids: inout RequestIDGenerator,
        where fits: (ClientRequest) -> Bool = { _ in true }
    ) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        while requests.count < count, let id = nextDue() {
            let requestID = ids.next()
            guard let request = machines[id]?.pendingRequest(requestID, acknowledged: acknowledged) else {
                requestSettled(id)
                continue
            }
            guard fits(.control(request)) else { break }
            requests.append(.control(request))
            requestSettled(id)
            inFlight[requestID] = id
            machines[id]?.requestWritten(as: requestID)
        }
        return requests
    }

    /// `REQOK` or `REQERR`. Nil: not a request of this store (or an outdated copy).
    package mutating func requestAnswered(_ request: RequestID, _ answer: RequestAnswer) -> [SubscriptionEffect]? {
        guard let id = inFlight.removeValue(forKey: request) else { return nil }
        guard machines[id]?.stage.request == .sent(request) else { return [] }
        let reply =
            switch answer {
            case .accepted: machines[id]?.accepted()
            case .refused(let code, let message): machines[id]?.refused(code: code, message: message)
            }
        var effects: [SubscriptionEffect] = []
        switch reply {
        case .nothing, nil:
            break
        case .requestDue:
            requestDue(id)
            effects.append(.requestsWaiting)
        case .failed(let code, let message):
            failed(id, code: code, message: message, into: &effects)
            forget(id)
        case .finished:
            forget(id)
        }
        return effects
    }
}

extension SubscriptionMachine {
    /// The request that is due; nil if it is no longer needed.
    func pendingRequest(_ id: RequestID, acknowledged: Bool) -> ControlRequest? {
        guard stage.request == .due, let operation = pendingOperation(acknowledged: acknowledged) else { return nil }
        return ControlRequest(requestID: id, operation: operation)
    }

    private func pendingOperation(acknowledged: Bool) -> ControlOperation? {
        switch stage {
        case .adding:
            guard let properties else { return nil }
            var request = AddRequest(
                subscriptionID: self.id,
                mode: properties.mode,
                group: properties.items.wireName,
                schema: properties.fields.wireName
            )
            request.dataAdapter = properties.dataAdapter
            request.selector = properties.selector
            request.snapshot = properties.requestedSnapshot
            request.maxFrequency = frequency.current
            request.bufferSize = properties.effectiveBufferSize
            request.isAcknowledged = acknowledged
            return .add(request)
        case .acknowledged:
            return nil
        case .subscribed:
            return .reconf(ReconfRequest(subscriptionID: self.id, maxFrequency: frequency.requested))
        case .deleting:
            let cause = role == .zombie ? "zombie" : nil
            return .delete(DeleteRequest(subscriptionID: self.id, isAcknowledged: acknowledged, cause: cause))
        }
    }

    /// The request that is due was written under this identifier.
    mutating func requestWritten(as request: RequestID) {
        if case .subscribed = stage { frequency.reconfWritten() }
        stage = stage.with(.sent(request))
    }
}
