public import SessionCore

/// Told about a subscription. Every method has an empty default.
///
/// The methods are called on the task of the client that the subscription is active on, in true order with that
/// client's other events. The subscription holds its delegates strongly. Positions are 1-based.
public protocol SubscriptionDelegate: AnyObject, Sendable {
    /// The delegate's first event.
    func subscriptionDidAddDelegate(_ subscription: Subscription)
    /// The delegate's last event.
    func subscriptionDidRemoveDelegate(_ subscription: Subscription)
    /// The server accepted the subscription, once for each session; what came earlier is void.
    func subscriptionDidSubscribe(_ subscription: Subscription)
    /// The subscription ended: by the user, by the server, or with the session.
    func subscriptionDidUnsubscribe(_ subscription: Subscription)
    /// The server refused the subscription, which is no longer active.
    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?)
    /// An item has new values.
    func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate)
    /// The snapshot of an item is complete. The name is nil with an item group.
    func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int)
    /// What is known of an item is void. The name is nil with an item group.
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
    /// The frequency limit in force is this from now on; nil: it can no longer be told.
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
    public func subscription(
        _ subscription: Subscription,
        didEndSnapshotForItemName itemName: String?,
        itemPos: Int
    ) {}
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
