internal import SessionCore

/// To active and back, and the mirror of values in between.
extension Subscription {
    /// Makes the subscription active; the properties as they are from now on, or the refusal.
    func activate(_ token: SubscriptionToken, on core: ClientCore) -> Result<SubscriptionProperties, ClientError> {
        state.withLock { state in
            if state.isActive {
                return .failure(ClientError(.lifecycle, rule: "Cannot subscribe to an active Subscription"))
            }
            guard state.draft.items != nil else {
                return .failure(
                    ClientError(.lifecycle, property: "items", rule: "Specify property 'items' or 'itemGroup'")
                )
            }
            guard let properties = state.draft.properties else {
                return .failure(
                    ClientError(.lifecycle, property: "fields", rule: "Specify property 'fields' or 'fieldSchema'")
                )
            }
            state.isActive = true
            state.token = token
            state.core = core
            state.table = ValueTable(properties: properties)
            return .success(properties)
        }
    }

    /// Makes the subscription inactive; the token it was active with, nil if it was not, or the refusal.
    func deactivate(on core: ClientCore) -> Result<SubscriptionToken?, ClientError> {
        state.withLock { state in
            guard state.isActive else { return .success(nil) }
            guard state.core === core else {
                return .failure(ClientError(.lifecycle, rule: "The Subscription is not subscribed to this Client"))
            }
            state.deactivate()
            return .success(state.token)
        }
    }

    /// Applies an event to the values; returns whether it made the subscription inactive, and the observers to notify.
    /// Events of an earlier activity, which the user has ended meanwhile, change nothing.
    func take(
        _ event: SubscriptionEvent,
        of token: SubscriptionToken,
        at now: Moment
    ) -> (hasEnded: Bool, observers: [any SubscriptionObserver]) {
        state.withLock { state in
            guard state.isActive, state.token == token else { return (false, state.observers) }
            switch event {
            case .failed, .unsubscribed(isFinal: true):
                state.deactivate()
                return (true, state.observers)
            default:
                state.table?.apply(event, at: now)
                return (false, state.observers)
            }
        }
    }

    /// Ends the activity that the client's end leaves over.
    func abandon(_ token: SubscriptionToken?) {
        state.withLock { state in
            if state.token == token { state.deactivate() }
        }
    }
}
