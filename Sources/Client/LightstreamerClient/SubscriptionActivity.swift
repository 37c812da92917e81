internal import SessionCore

/// Activation, deactivation and the present values.
extension Subscription {
    /// Makes the subscription active and queues it for the driver, unless it has values from a session that is adopted; the
    /// further observer is held strongly. Throws `lifecycle` if it is active, or items or fields are not set.
    func activate(
        _ token: SubscriptionToken,
        on core: ClientCore,
        with table: ValueTable? = nil,
        observer: (any SubscriptionObserver)? = nil
    ) throws(ClientError) {
        try state.withLock { state throws(ClientError) in
            if state.isActive { throw ClientError(.lifecycle, rule: "Cannot subscribe to an active Subscription") }
            let properties = state.properties
            if properties.items.isUnset {
                throw ClientError(.lifecycle, property: "items", rule: "Specify property 'items' or 'itemGroup'")
            }
            if properties.fields.isUnset {
                throw ClientError(.lifecycle, property: "fields", rule: "Specify property 'fields' or 'fieldSchema'")
            }
            if let observer { state.observers.append(observer) }
            state.isActive = true
            state.refusal = nil
            state.token = token
            state.core = core
            guard let table else {
                state.table = ValueTable(properties: properties)
                // Inside the lock, so that a change of the frequency reaches the driver after the subscription.
                return core.mailbox.put(.subscribe(self, token, properties))
            }
            state.table = table
            if let position = table.keyPosition { state.keyPosition = position }
            if let position = table.commandPosition { state.commandPosition = position }
        }
    }

    func noteNumber(_ number: Int?) { state.withLock { $0.number = number } }

    /// Makes the subscription inactive; returns its token, nil if it was inactive. Throws `lifecycle` if it is active on
    /// another client.
    func deactivate(on core: ClientCore) throws(ClientError) -> SubscriptionToken? {
        try state.withLock { state throws(ClientError) in
            guard state.isActive else { return nil }
            guard state.core === core else {
                throw ClientError(.lifecycle, rule: "The Subscription is not subscribed to this Client")
            }
            state.deactivate()
            return state.token
        }
    }

    /// Applies an event to the values; returns whether it made the subscription inactive, and the observers to notify.
    /// Events of an earlier activity, which the user has ended meanwhile, change nothing. Once a later activity has begun on
    /// another client, nobody is notified of events of the earlier activity.
    func take(
        _ event: SubscriptionEvent,
        of token: SubscriptionToken,
        at now: Moment
    ) -> (hasEnded: Bool, observers: [any SubscriptionObserver]) {
        state.withLock { state in
            if state.token != token, let begun = state.begun, begun.rawValue > token.rawValue { return (false, []) }
            if case .update(let update) = event {
                guard state.isActive, state.token == token else { return (false, state.observers) }
                state.table?.apply(update, at: now)
                valueWeight.store(state.table?.weight ?? 0, ordering: .relaxed)
                return (false, state.observers)
            }
            switch event {
            case .subscribed: state.announced = token
            case .unsubscribed, .failed: state.announced = nil
            default: break
            }
            guard state.isActive, state.token == token else { return (false, state.observers) }
            switch event {
            case .failed, .unsubscribed(isFinal: true):
                state.deactivate()
                state.refusal = SubscriptionRefused(event)
            default:
                if case .subscribed(_, _, let keyPosition, let commandPosition) = event {
                    state.keyPosition = keyPosition
                    state.commandPosition = commandPosition
                }
                state.table?.apply(event, at: now)
            }
            valueWeight.store(state.table?.weight ?? 0, ordering: .relaxed)
            return (!state.isActive, state.observers)
        }
    }

    /// The receivers of events.
    package var observers: [any SubscriptionObserver] { state.withLock { $0.observers } }

    /// Adds an observer, which receives every event from now on. It is held strongly.
    package func addObserver(_ observer: any SubscriptionObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    /// Removes an observer; an unknown one is ignored.
    package func removeObserver(_ observer: any SubscriptionObserver) {
        state.withLock { $0.observers.removeAll { $0 === observer } }
    }

    /// The receivers of events if the activity of this token is over and was the last one.
    func observersIfEnded(_ token: SubscriptionToken) -> [any SubscriptionObserver] {
        state.withLock { !$0.isActive && $0.token == token ? $0.observers : [] }
    }

    /// The refusal or removal that ended the last activity; nil while active, and if the application unsubscribed.
    var refusal: SubscriptionRefused? { state.withLock { $0.refusal } }

    /// Makes the subscription inactive at the end of its client; returns the receivers of events, none if the application has moved
    /// the subscription to another client meanwhile.
    func abandon(_ token: SubscriptionToken) -> [any SubscriptionObserver] {
        state.withLock { state in
            if state.token != token { return [] }
            state.deactivate()
            return state.observers
        }
    }
}
