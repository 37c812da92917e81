internal import TLCP

/// Second-level subscriptions: one for each key of a first level that has second-level fields.
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
        machines[first]?.data?.frequencies?.secondLevelReceived(frequency, insteadOf: earlier)
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
        machines[first]?.data?.frequencies?.secondLevelReceived(nil, insteadOf: notified)
        machines[id]?.notifiedFrequency = nil
    }
}
