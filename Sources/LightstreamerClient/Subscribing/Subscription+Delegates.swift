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
            subscription.state.withLock { $0.listening.append(delegate) }
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
            subscription.state.withLock { $0.listening.removeAll { $0 === delegate } }
        }
    }

    /// Does something in the order of the events of the client that the subscription is, or was last, active on;
    /// without a client, or after its end, at once.
    private func inOrder(_ body: @escaping @Sendable (Subscription) -> Void) {
        let core = state.withLock { $0.core }
        guard let core, core.perform({ [self] _ in body(self) }) else { return body(self) }
    }

    /// Tells the delegates of an event; on the task of the client.
    func deliver(_ event: SubscriptionEvent) {
        let (listening, feeds) = state.withLock { ($0.listening, $0.feeds) }
        for feed in feeds { feed.yield(event) }
        for delegate in listening { deliver(event, to: delegate) }
    }

    private func deliver(_ event: SubscriptionEvent, to delegate: any SubscriptionDelegate) {
        switch event {
        case .subscribed: delegate.subscriptionDidSubscribe(self)
        case .unsubscribed: delegate.subscriptionDidUnsubscribe(self)
        case .failed(let code, let message): delegate.subscription(self, didFailWithErrorCode: code, message: message)
        case .update(let update): delegate.subscription(self, didUpdateItem: update)
        case .endOfSnapshot(let itemPos):
            delegate.subscription(self, didEndSnapshotForItemName: itemName(itemPos), itemPos: itemPos)
        case .clearSnapshot(let itemPos):
            delegate.subscription(self, didClearSnapshotForItemName: itemName(itemPos), itemPos: itemPos)
        case .lostUpdates(let count, let itemPos):
            delegate.subscription(self, didLoseUpdates: count, forItemName: itemName(itemPos), itemPos: itemPos)
        case .secondLevelFailed(let code, let message, let key):
            delegate.subscription(
                self,
                didFailWithErrorCode: code,
                message: message,
                forCommandSecondLevelItemWithKey: key
            )
        case .secondLevelLostUpdates(let count, let key):
            delegate.subscription(self, didLoseUpdates: count, forCommandSecondLevelItemWithKey: key)
        case .realMaxFrequency(let frequency): delegate.subscription(self, didReceiveRealFrequency: frequency)
        }
    }

    private func itemName(_ position: Int) -> String? {
        guard let names = items, names.indices.contains(position - 1) else { return nil }
        return names[position - 1]
    }
}
