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

extension SubscriptionStore {
    /// Subscribes to the second level of a new key, if the key can name an item.
    mutating func openSecondLevel(
        of first: SubscriptionID,
        item: Int,
        key: String,
        token: SubscriptionToken,
        into effects: inout [SubscriptionEffect]
    ) {
        guard let properties = machines[first]?.secondLevelProperties(of: key) else { return }
        guard CommandTable.isItemName(key) else {
            let message = "The received key value is not a valid name for an Item"
            effects.append(.notify(token, .secondLevelFailed(code: 14, message: message, key: key)))
            return
        }
        let id = nextID()
        machines[id] = SubscriptionMachine(
            id,
            role: .secondLevel(of: first, item: item, key: key),
            properties: properties
        )
        machines[first]?.data?.secondLevelOpened(id, item: item, key: key)
        requestDue(id)
        effects.append(.requestsWaiting)
    }

    /// Removes a second-level subscription with its key or with the first level; true: a request is due.
    mutating func release(_ id: SubscriptionID) -> Bool {
        guard case .secondLevel(let first, _, _)? = machines[id]?.role, let removal = machines[id]?.remove() else {
            return false
        }
        forgetFrequency(of: id, in: first)
        return settle(id, removal)
    }

    /// The server refused or removed a second-level subscription, or announced wrong counts: its key remains without
    /// one.
    mutating func secondLevelLost(
        _ id: SubscriptionID,
        failure: (code: Int, message: String)?,
        into effects: inout [SubscriptionEffect]
    ) {
        guard case .secondLevel(let first, let item, let key)? = machines[id]?.role,
            case .user(let token)? = machines[first]?.role,
            machines[first]?.data?.secondLevelClosed(id, item: item, key: key) == true
        else { return }
        if let failure {
            effects.append(
                .notify(token, .secondLevelFailed(code: failure.code, message: failure.message, key: key))
            )
        }
        forgetFrequency(of: id, in: first)
        notifyFrequency(of: first, into: &effects)
    }

    /// `CONF` of a second-level subscription.
    mutating func secondLevelRealFrequencyReceived(
        _ id: SubscriptionID,
        _ frequency: RealMaxFrequency,
        into effects: inout [SubscriptionEffect]
    ) {
        guard case .subscribed? = machines[id]?.stage, case .secondLevel(let first, _, _)? = machines[id]?.role else {
            return
        }
        let earlier = machines[id]?.notifiedFrequency
        machines[first]?.data?.frequencies.secondLevelReceived(frequency, insteadOf: earlier)
        machines[id]?.notifiedFrequency = frequency
        notifyFrequency(of: first, into: &effects)
    }

    /// Emits the aggregate frequency of a two-level subscription, if it changed.
    mutating func notifyFrequency(of first: SubscriptionID, into effects: inout [SubscriptionEffect]) {
        guard case .user(let token)? = machines[first]?.role, let event = machines[first]?.changedFrequency() else {
            return
        }
        effects.append(.notify(token, event))
    }

    private mutating func forgetFrequency(of id: SubscriptionID, in first: SubscriptionID) {
        guard let notified = machines[id]?.notifiedFrequency else { return }
        machines[first]?.data?.frequencies.secondLevelReceived(nil, insteadOf: notified)
        machines[id]?.notifiedFrequency = nil
    }
}
