package import Changes
internal import SessionCore

/// The life of subscriptions that requests have created: they end when nothing has used them for some time.
extension SessionPool {
    /// Sets how the pool finds out whether a stream carries a subscription; called once, before `run`.
    package func readers(_ isRead: @escaping @Sendable (SubscriptionID) -> Bool) { hasReaders.withLock { $0 = isRead } }

    /// The time that a subscription lives unused; nil for one that streams share.
    package func lifetime(of resource: SubscriptionResource) -> Duration? {
        if resource.isImplicit { return nil }
        let limit = configuration.subscriptionIdle
        return min(resource.ttl ?? limit, limit)
    }

    /// The time until a subscription ends if it is not used; nil while a stream carries it, and if streams share it.
    package func timeLeft(of resource: SubscriptionResource) -> Duration? {
        if resource.isImplicit || hasStream(resource) { return nil }
        return max(.zero, resource.expiry(configuration.subscriptionIdle) - clock())
    }

    /// Ends the subscriptions that were not used for their time.
    func endIdleSubscriptions(at now: Moment) {
        let limit = configuration.subscriptionIdle
        let due = state.withLock { state in
            state.resources.values.filter { !$0.isImplicit && $0.expiry(limit) <= now }
        }
        for resource in due {
            if isUsed(resource) {
                resource.touch(at: now)
            } else {
                logger.debug(
                    "subscription ended, because nothing used it",
                    metadata: ["subscription": "\(resource.id)"]
                )
                deleteResource(resource)
            }
        }
    }

    /// Whether a stream carries a subscription, or a request waits for it.
    private func isUsed(_ resource: SubscriptionResource) -> Bool {
        !resource.watchers.isEmpty || hasStream(resource)
    }

    private func hasStream(_ resource: SubscriptionResource) -> Bool { hasReaders.withLock { $0 }(resource.id) }
}
