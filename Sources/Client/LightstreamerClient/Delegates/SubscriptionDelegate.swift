public import SessionCore

/// Receives the events of a subscription. Every method has an empty default.
///
/// The methods are called on the task of the client that the subscription is active on, in the order of all events of
/// that client. The subscription holds its delegates strongly. Positions are 1-based.
public protocol SubscriptionDelegate: AnyObject, Sendable {
    /// The delegate's first event.
    func subscriptionDidAddDelegate(_ subscription: Subscription)
    /// The delegate's last event.
    func subscriptionDidRemoveDelegate(_ subscription: Subscription)
    /// The server accepted the subscription, once for each session; earlier values are discarded.
    func subscriptionDidSubscribe(_ subscription: Subscription)
    /// The subscription ended: by the user, by the server, or with the session.
    func subscriptionDidUnsubscribe(_ subscription: Subscription)
    /// The server refused the subscription, which is no longer active.
    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?)
    /// An item has new values.
    func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate)
    /// The snapshot of an item is complete. The name is nil with an item group.
    func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int)
    /// The values of an item are no longer valid. The name is nil with an item group.
    func subscription(_ subscription: Subscription, didClearSnapshotForItemName itemName: String?, itemPos: Int)
    /// The server dropped updates of an item. The name is nil with an item group.
    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forItemName itemName: String?,
        itemPos: Int
    )
    /// The server dropped updates of the second level of a key.
    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forCommandSecondLevelItemWithKey key: String
    )
    /// The second level of a key was refused.
    func subscription(
        _ subscription: Subscription,
        didFailWithErrorCode code: Int,
        message: String?,
        forCommandSecondLevelItemWithKey key: String
    )
    /// The server has announced the frequency limit in force. With a second level it is the highest limit of both, and is
    /// reported when it changes; nil: unknown.
    func subscription(_ subscription: Subscription, didReceiveRealFrequency frequency: RealMaxFrequency?)
}

extension SubscriptionDelegate {
    /// Does nothing.
    public func subscriptionDidAddDelegate(_ subscription: Subscription) {}
    /// Does nothing.
    public func subscriptionDidRemoveDelegate(_ subscription: Subscription) {}
    /// Does nothing.
    public func subscriptionDidSubscribe(_ subscription: Subscription) {}
    /// Does nothing.
    public func subscriptionDidUnsubscribe(_ subscription: Subscription) {}
    /// Does nothing.
    public func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {}
    /// Does nothing.
    public func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate) {}
    /// Does nothing.
    public func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int) {}
    /// Does nothing.
    public func subscription(
        _ subscription: Subscription,
        didClearSnapshotForItemName itemName: String?,
        itemPos: Int
    ) {}
    /// Does nothing.
    public func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forItemName itemName: String?,
        itemPos: Int
    ) {}
    /// Does nothing.
    public func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forCommandSecondLevelItemWithKey key: String
    ) {}
    /// Does nothing.
    public func subscription(
        _ subscription: Subscription,
        didFailWithErrorCode code: Int,
        message: String?,
        forCommandSecondLevelItemWithKey key: String
    ) {}
    /// Does nothing.
    public func subscription(_ subscription: Subscription, didReceiveRealFrequency frequency: RealMaxFrequency?) {}
}

/// Calls a subscription delegate for the events of its subscription.
final class SubscriptionDelegateAdapter: SubscriptionObserver {
    let delegate: any SubscriptionDelegate

    init(_ delegate: any SubscriptionDelegate) { self.delegate = delegate }

    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        switch event {
        case .subscribed: delegate.subscriptionDidSubscribe(subscription)
        case .unsubscribed: delegate.subscriptionDidUnsubscribe(subscription)
        case .failed(let code, let message):
            delegate.subscription(subscription, didFailWithErrorCode: code, message: message)
        case .update(let update): delegate.subscription(subscription, didUpdateItem: update)
        case .endOfSnapshot(let position):
            let name = subscription.itemName(at: position)
            delegate.subscription(subscription, didEndSnapshotForItemName: name, itemPos: position)
        case .clearSnapshot(let position):
            let name = subscription.itemName(at: position)
            delegate.subscription(subscription, didClearSnapshotForItemName: name, itemPos: position)
        case .lostUpdates(let count, let position):
            let name = subscription.itemName(at: position)
            delegate.subscription(subscription, didLoseUpdates: count, forItemName: name, itemPos: position)
        case .secondLevelFailed(let code, let message, let key):
            delegate.subscription(
                subscription,
                didFailWithErrorCode: code,
                message: message,
                forCommandSecondLevelItemWithKey: key
            )
        case .secondLevelLostUpdates(let count, let key):
            delegate.subscription(subscription, didLoseUpdates: count, forCommandSecondLevelItemWithKey: key)
        case .realMaxFrequency(let frequency):
            delegate.subscription(subscription, didReceiveRealFrequency: frequency)
        }
    }
}

extension Subscription {
    /// The delegates, in the order in which they were added. They are held strongly.
    public var delegates: [any SubscriptionDelegate] { state.withLock { $0.delegates } }

    /// Adds a delegate; a duplicate is ignored. Its first event is `subscriptionDidAddDelegate`, delivered by this
    /// call if the subscription was never subscribed.
    public func addDelegate(_ delegate: any SubscriptionDelegate) {
        guard state.withLock({ $0.delegates.appendObject(delegate) }) else { return }
        inOrder { subscription in
            subscription.addObserver(SubscriptionDelegateAdapter(delegate))
            delegate.subscriptionDidAddDelegate(subscription)
        }
    }

    /// Removes a delegate; an unknown one is ignored. Its last event is `subscriptionDidRemoveDelegate`.
    public func removeDelegate(_ delegate: any SubscriptionDelegate) {
        guard state.withLock({ $0.delegates.removeObject(delegate) }) else { return }
        inOrder { subscription in
            // Before the event, in which the delegate may be added again.
            subscription.state.withLock { state in
                state.observers.removeAll { ($0 as? SubscriptionDelegateAdapter)?.delegate === delegate }
            }
            delegate.subscriptionDidRemoveDelegate(subscription)
        }
    }

    /// Calls a closure in the order of the events of the client that the subscription is active on, or was last active
    /// on; calls it at once if there is no such client, or if that client has ended.
    private func inOrder(_ body: @escaping @Sendable (Subscription) -> Void) {
        guard let core = state.withLock({ $0.core }) else { return body(self) }
        core.performAlways { [self] _ in body(self) }
    }

    /// The name of the item at a position; nil with an item group.
    func itemName(at position: Int) -> String? {
        guard let names = items, names.indices.contains(position - 1) else { return nil }
        return names[position - 1]
    }
}
