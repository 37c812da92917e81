internal import TLCP

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

    /// Removes a second-level subscription whose key is gone, or goes with the whole; true: a request is due.
    mutating func release(_ id: SubscriptionID) -> Bool {
        guard case .secondLevel(let first, _, _)? = machines[id]?.role, let removal = machines[id]?.remove() else {
            return false
        }
        forgetFrequency(of: id, in: first)
        return settle(id, removal)
    }

    /// The server refused, removed or mis-sized a second-level subscription: its key goes on without.
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
        tellFrequency(of: first, into: &effects)
    }

    /// `CONF` of a second-level subscription.
    mutating func secondLevelFrequencyTold(
        _ id: SubscriptionID,
        _ frequency: RealMaxFrequency,
        into effects: inout [SubscriptionEffect]
    ) {
        guard case .subscribed? = machines[id]?.stage, case .secondLevel(let first, _, _)? = machines[id]?.role else {
            return
        }
        let earlier = machines[id]?.toldFrequency
        machines[first]?.data?.frequencies.secondLevelTold(frequency, insteadOf: earlier)
        machines[id]?.toldFrequency = frequency
        tellFrequency(of: first, into: &effects)
    }

    /// Tells the aggregate frequency of a two-level subscription, if it changed.
    mutating func tellFrequency(of first: SubscriptionID, into effects: inout [SubscriptionEffect]) {
        guard case .user(let token)? = machines[first]?.role, let event = machines[first]?.frequencyNews() else {
            return
        }
        effects.append(.notify(token, event))
    }

    private mutating func forgetFrequency(of id: SubscriptionID, in first: SubscriptionID) {
        guard let told = machines[id]?.toldFrequency else { return }
        machines[first]?.data?.frequencies.secondLevelTold(nil, insteadOf: told)
        machines[id]?.toldFrequency = nil
    }
}
