internal import SessionCore

extension Subscription {
    /// The delegates, in the order in which they were added. They are held strongly.
    public var delegates: [any SubscriptionDelegate] { state.withLock { $0.delegates } }

    /// Adds a delegate; one that is there already is ignored. Its first event is `subscriptionDidAddDelegate`. On a
    /// subscription that no client knows, this very call delivers it.
    public func addDelegate(_ delegate: any SubscriptionDelegate) {
        let isNew = state.withLock { state in
            guard !state.delegates.contains(where: { $0 === delegate }) else { return false }
            state.delegates.append(delegate)
            return true
        }
        guard isNew else { return }
        inOrder { subscription in
            subscription.addObserver(SubscriptionDelegateAdapter(delegate))
            delegate.subscriptionDidAddDelegate(subscription)
        }
    }

    /// Removes a delegate; an unknown one is ignored. Its last event is `subscriptionDidRemoveDelegate`.
    public func removeDelegate(_ delegate: any SubscriptionDelegate) {
        let wasThere = state.withLock { state in
            let before = state.delegates.count
            state.delegates.removeAll { $0 === delegate }
            return state.delegates.count != before
        }
        guard wasThere else { return }
        inOrder { subscription in
            delegate.subscriptionDidRemoveDelegate(subscription)
            subscription.state.withLock { state in
                state.observers.removeAll { ($0 as? SubscriptionDelegateAdapter)?.delegate === delegate }
            }
        }
    }

    /// Does something in the order of the events of the client that the subscription is, or was last, active on;
    /// without a client, or after its end, at once.
    private func inOrder(_ body: @escaping @Sendable (Subscription) -> Void) {
        let core = state.withLock { $0.core }
        guard let core, core.perform({ [self] _ in body(self) }) else { return body(self) }
    }

    /// Adds an observer, which receives every event from now on. It is held strongly.
    package func addObserver(_ observer: any SubscriptionObserver) {
        state.withLock { $0.observers.append(observer) }
    }

    /// Removes an observer; an unknown one is ignored.
    package func removeObserver(_ observer: any SubscriptionObserver) {
        state.withLock { state in state.observers.removeAll { $0 === observer } }
    }

    /// The name of the item at a position; nil with an item group.
    func itemName(at position: Int) -> String? {
        guard let names = items, names.indices.contains(position - 1) else { return nil }
        return names[position - 1]
    }
}
