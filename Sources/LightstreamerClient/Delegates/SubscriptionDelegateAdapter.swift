internal import SessionCore

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
