package import TLCP

extension SubscriptionStore {
    /// An update. Returns its event if that is its only effect; the effects are to be taken otherwise. An update of an
    /// unknown subscription makes a delete due.
    package mutating func received(_ line: UpdateLine) -> (SubscriptionToken, ItemUpdate)? {
        do throws(ProtocolViolation) {
            guard let index = machines.index(forKey: line.subscription) else {
                addZombie(line.subscription)
                return nil
            }
            let outcome = try machines.values[index].rowReceived(item: line.item, fields: line.fields)
            if case .deliver(let token, let update, nil)? = outcome { return (token, update) }
            if let outcome { take(outcome, of: line.subscription) }
        } catch {
            guard error.isOwnLimit else {
                effects.append(.protocolViolation(error.reason))
                return nil
            }
            abandon(line.subscription, message: error.reason)
        }
        return nil
    }

    /// A data notification of a subscription: `U`, `SUBOK`, `SUBCMD`, `UNSUB`, `EOS`, `CS`, `OV`, `CONF`; any other is
    /// ignored. The effects are to be taken. A line of an unknown subscription makes a delete due.
    package mutating func received(_ notification: ServerNotification) {
        do throws(ProtocolViolation) {
            switch notification {
            case .update(let id, let item, let fields):
                if let (token, update) = received(UpdateLine(id, item: item, fields)) {
                    effects.append(.notify(token, .update(update)))
                }
            case .subOK(let id, let items, let fields):
                try announced(id, .init(itemCount: items, fieldCount: fields))
            case .subCmd(let id, let items, let fields, let key, let command):
                let positions = SubscriptionAnnouncement.CommandPositions(key: key, command: command)
                try announced(id, .init(itemCount: items, fieldCount: fields, positions: positions))
            case .unsub(let id):
                removedByServer(id)
            case .eos(let id, let item):
                try event(of: id) { machine throws(ProtocolViolation) in
                    try machine.snapshotEnded(item: item)
                }
            case .cs(let id, let item):
                try snapshotCleared(id, item: item)
            case .ov(let id, let item, let lost):
                try event(of: id) { machine throws(ProtocolViolation) in
                    try machine.updatesLost(item: item, count: lost)
                }
            case .conf(let id, let frequency, _):
                realFrequencyReceived(id, frequency)
            case .conOK, .conErr, .reqOK, .reqErr, .error, .wsOK, .servName, .clientIP, .cons, .noop, .probe, .sync,
                .prog, .loop, .end, .msgDone, .msgFail, .mpnReg, .mpnZero, .mpnOK, .mpnConf, .mpnDel:
                break
            }
        } catch {
            effects.append(.protocolViolation(error.reason))
        }
    }

    // MARK: - Rows

    private mutating func take(_ outcome: SubscriptionMachine.RowOutcome, of id: SubscriptionID) {
        switch outcome {
        case .deliver(let token, let update, nil), .deliver(let token, let update, .updated),
            .deliver(let token, let update, .deleted(nil)):
            effects.append(.notify(token, .update(update)))
        case .deliver(let token, let update, .added):
            effects.append(.notify(token, .update(update)))
            guard let key = update.key else { return }
            openSecondLevel(of: id, item: update.itemPos, key: key, token: token)
        case .deliver(let token, let update, .deleted(.some(let secondLevel))):
            // The delete must be sent before the update is dispatched.
            if release([secondLevel]) { effects.append(.requestsWaiting) }
            effects.append(.notify(token, .update(update)))
            notifyFrequency(of: id)
        case .compose(let first, let item, let key, let row):
            guard case .user(let token)? = machines[first]?.role,
                let update = machines[first]?.data?.compose(row, from: id, item: item, key: key)
            else { return }
            effects.append(.notify(token, .update(update)))
        }
    }

    private mutating func snapshotCleared(_ id: SubscriptionID, item: Int) throws(ProtocolViolation) {
        guard let index = machines.index(forKey: id) else { return addZombie(id) }
        guard let (event, secondLevels) = try machines.values[index].snapshotCleared(item: item),
            case .user(let token) = machines.values[index].role
        else { return }
        if release(secondLevels) { effects.append(.requestsWaiting) }
        if !secondLevels.isEmpty { notifyFrequency(of: id) }
        effects.append(.notify(token, event))
    }

    /// Asks the machine for the event of a line, and emits it for the subscription of the user.
    private mutating func event(
        of id: SubscriptionID,
        _ body: (inout SubscriptionMachine) throws(ProtocolViolation) -> SubscriptionEvent?
    ) throws(ProtocolViolation) {
        guard let index = machines.index(forKey: id) else { return addZombie(id) }
        guard let event = try body(&machines.values[index]), let token = listener(of: id) else { return }
        effects.append(.notify(token, event))
    }

    private func listener(of id: SubscriptionID) -> SubscriptionToken? {
        switch machines[id]?.role {
        case .user(let token): token
        case .secondLevel(let first, _, _): listener(of: first)
        case .zombie, nil: nil
        }
    }

    // MARK: - Life

    private mutating func announced(
        _ id: SubscriptionID,
        _ announcement: SubscriptionAnnouncement
    ) throws(ProtocolViolation) {
        guard let index = machines.index(forKey: id) else { return addZombie(id) }
        let request = machines.values[index].stage.request
        let activation = try machines.values[index].announced(announcement)
        if activation == .ignored { return }
        // The announcement counts as the answer to the add: later replies to that request are ignored.
        requests.settle(id, request)
        switch activation {
        case .ignored:
            break
        case .subscribed(let event, let isReconfDue):
            if case .user(let token) = machines.values[index].role { effects.append(.notify(token, event)) }
            guard isReconfDue else { return }
            requestDue(id)
            effects.append(.requestsWaiting)
        case .mismatched(let message):
            failed(id, code: 61, message: message)
            requestDue(id)
            effects.append(.requestsWaiting)
        }
    }

    /// A subscribed subscription exceeds a limit of this client: it fails as if it had been refused, and is deleted.
    private mutating func abandon(_ id: SubscriptionID, message: String) {
        _ = release(machines[id]?.secondLevels ?? [])
        _ = machines[id]?.remove()
        failed(id, code: 61, message: message)
        requestDue(id)
        effects.append(.requestsWaiting)
    }

    private mutating func realFrequencyReceived(_ id: SubscriptionID, _ frequency: RealMaxFrequency) {
        switch machines[id]?.role {
        case .user(let token):
            guard let event = machines[id]?.realFrequencyReceived(frequency) else { return }
            effects.append(.notify(token, event))
        case .secondLevel: secondLevelRealFrequencyReceived(id, frequency)
        case .zombie: break
        case nil: addZombie(id)
        }
    }

    // MARK: - Second level: one subscription for each key of a first level that has second-level fields

    /// Subscribes to the second level of a new key, if the key can name an item.
    private mutating func openSecondLevel(of first: SubscriptionID, item: Int, key: String, token: SubscriptionToken) {
        guard let properties = machines[first]?.secondLevelProperties(of: key) else { return }
        guard CommandTable.isItemName(key) else {
            let message = "The received key value is not a valid name for an Item"
            let code = UpstreamRefusal.badKeyCode
            effects.append(.notify(token, .secondLevelFailed(code: code, message: message, key: key)))
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

    /// Removes second-level subscriptions, with their keys or with the first level; true: a request is due.
    mutating func release(_ secondLevels: [SubscriptionID]) -> Bool {
        var isRequestDue = false
        for id in secondLevels {
            guard case .secondLevel(let first, _, _)? = machines[id]?.role, let removal = machines[id]?.remove() else {
                continue
            }
            machines[first]?.data?.frequencies?.secondLevelEnded(id)
            if settle(id, removal) { isRequestDue = true }
        }
        return isRequestDue
    }

    /// The server refused or removed a second-level subscription, or announced wrong counts: its key remains without
    /// one.
    mutating func secondLevelLost(_ id: SubscriptionID, failure: (code: Int, message: String)?) {
        guard case .secondLevel(let first, let item, let key)? = machines[id]?.role,
            case .user(let token)? = machines[first]?.role,
            machines[first]?.data?.secondLevelClosed(id, item: item, key: key) == true
        else { return }
        if let failure {
            effects.append(.notify(token, .secondLevelFailed(code: failure.code, message: failure.message, key: key)))
        }
        machines[first]?.data?.frequencies?.secondLevelEnded(id)
        notifyFrequency(of: first)
    }

    /// `CONF` of a second-level subscription.
    private mutating func secondLevelRealFrequencyReceived(_ id: SubscriptionID, _ frequency: RealMaxFrequency) {
        guard case .subscribed? = machines[id]?.stage, case .secondLevel(let first, _, _)? = machines[id]?.role else {
            return
        }
        machines[first]?.data?.frequencies?.secondLevelReceived(frequency, of: id)
        notifyFrequency(of: first)
    }

    /// Emits the aggregate frequency of a two-level subscription, if it changed.
    private mutating func notifyFrequency(of first: SubscriptionID) {
        guard case .user(let token)? = machines[first]?.role, let event = machines[first]?.changedFrequency() else {
            return
        }
        effects.append(.notify(token, event))
    }
}
