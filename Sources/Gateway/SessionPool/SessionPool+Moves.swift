internal import SessionCore

/// Changes of the frequency of one sharer of an upstream subscription: it moves to another one while its readers keep
/// their values.
extension SessionPool {
    /// Starts to move a subscribed resource to the upstream subscription with other properties; false if the resource is
    /// not subscribed. If it throws, nothing has changed.
    func moveOnTheFly(
        _ resource: SubscriptionResource,
        to properties: SubscriptionProperties
    ) throws(PoolError) -> Bool {
        guard case .pooled(let session) = resource.home, let former = resource.carrier, resource.status.isSubscribed
        else { return false }
        let key = SharedKey(session: session, properties: properties)
        while true {
            let acquired = try acquire(key)
            let isExpected = acquired.shared.expect(resource, from: former)
            do throws(PoolError) {
                try open(acquired)
            } catch {
                acquired.shared.forget(resource)
                _ = resource.cancelMove()
                throw error
            }
            guard isExpected else { continue }
            if acquired.shared.hasArrived(resource) { finishMove(resource) }
            return true
        }
    }

    /// The values of the subscription that a resource moves to have come, or the subscription was refused.
    func arrived(_ resource: SubscriptionResource, _ refusal: UpstreamRefusal?) {
        resource.changes.withLock { _ in
            guard let refusal else { return finishMove(resource) }
            // Without a user: the machine has removed the subscription that was refused.
            guard resource.cancelMove() != nil, let former = resource.carrier else { return }
            former.refuse(resource, refusal)
            removeUser(of: former)
        }
    }

    /// Ends a move without an effect, and releases its target.
    func cancelMove(_ resource: SubscriptionResource) {
        guard let target = resource.cancelMove() else { return }
        target.forget(resource)
        removeUser(of: target)
    }

    private func finishMove(_ resource: SubscriptionResource) {
        guard let target = resource.moveTarget, let former = resource.carrier, target !== former else { return }
        if target.take(resource, from: former) { removeUser(of: former) }
        resource.notifyWatchers()
    }

    /// Removes one user of an upstream subscription.
    func removeUser(of shared: SharedSubscription) {
        guard let id = shared.id else { return }
        let now = clock()
        state.withLock { $0.machine.released(id, at: now) }
    }
}
