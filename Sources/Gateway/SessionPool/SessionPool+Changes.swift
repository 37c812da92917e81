internal import Changes
internal import LightstreamerClient
package import SessionCore

/// Changes of the properties of subscriptions. A sharer of an upstream subscription whose frequency changes moves to another
/// one, while its readers keep their values.
extension SessionPool {
    /// Replaces the properties: all of them while inactive, while active `requestedMaxFrequency` only. The caller holds
    /// the resource's `changes`.
    package func change(_ resource: SubscriptionResource, to properties: SubscriptionProperties) throws(PoolError) {
        let present = resource.properties
        if present == properties { return requestAgain(properties.requestedMaxFrequency, of: resource) }
        guard let shared = resource.carrier else {
            cancelMove(resource)
            return set(properties, of: resource)
        }
        var allowed = present
        allowed.requestedMaxFrequency = properties.requestedMaxFrequency
        if allowed != properties {
            throw .lifecycle(rule: "only requestedMaxFrequency and ttl may change while the subscription is active")
        }
        guard present.requestedMaxFrequency != .unfiltered, let frequency = properties.requestedMaxFrequency,
            frequency != .unfiltered
        else {
            throw .lifecycle(
                rule: "requestedMaxFrequency may not change from or to unfiltered, or to null, while active"
            )
        }
        if changesAlone(shared, resource, to: properties) {
            cancelMove(resource)
            try? shared.subscription.setRequestedMaxFrequency(frequency)
            set(properties, of: resource)
        } else {
            try move(resource, from: present, to: properties)
        }
    }

    /// The same frequency is set again: the client requests the limit once more if the server has refused it.
    private func requestAgain(_ frequency: RequestedMaxFrequency?, of resource: SubscriptionResource) {
        guard let subscription = resource.carrier?.subscription, subscription.requestedMaxFrequency == frequency else {
            return
        }
        try? subscription.setRequestedMaxFrequency(frequency)
    }

    /// Moves an active resource to another upstream subscription; if that is refused, it returns to its old properties, and
    /// to the move to them if there was one.
    private func move(
        _ resource: SubscriptionResource,
        from present: SubscriptionProperties,
        to properties: SubscriptionProperties
    ) throws(PoolError) {
        if case .pooled(let session) = resource.home {
            try checkCredits(for: SharedKey(session: session, properties: properties))
        }
        let wasMoving = resource.moveTarget != nil
        cancelMove(resource)
        do throws(PoolError) {
            if try moveOnTheFly(resource, to: properties) { return set(properties, of: resource) }
        } catch {
            if wasMoving { _ = try? moveOnTheFly(resource, to: present) }
            throw error
        }
        makeInactive(resource)
        set(properties, of: resource)
        do {
            _ = try makeActive(resource)
        } catch {
            set(present, of: resource)
            _ = try? makeActive(resource)
            throw error
        }
    }

    private func set(_ properties: SubscriptionProperties, of resource: SubscriptionResource) {
        resource.setProperties(properties)
        sink.take(.subscription(resource.id, .propertiesChanged(properties)))
        resource.notifyWatchers()
    }

    /// Whether the resource is the only user of its upstream subscription; if so, the subscription's key changes with
    /// its properties, and implicit resources without readers, which have the former properties, are deleted.
    private func changesAlone(
        _ shared: SharedSubscription,
        _ resource: SubscriptionResource,
        to properties: SubscriptionProperties
    ) -> Bool {
        guard let id = shared.id else { return true }
        let unread: [SubscriptionResource]? = state.withLock { state in
            guard state.machine.rekeyed(id, to: properties) else { return nil }
            return shared.resources.filter { $0 !== resource && state.resources.withdraw($0) }
        }
        guard let unread else { return false }
        deleteUnread(unread)
        return true
    }

    /// Starts to move a subscribed resource to the upstream subscription with other properties; false if the resource is
    /// not subscribed. If it throws, nothing has changed. Throws `unknownSubscription` if the resource is deleted meanwhile.
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
                _ = resource.endMove()
                throw error
            }
            guard isExpected else { continue }
            if resource.isDeleted {
                // The deletion, which does not wait, has perhaps found no move to cancel.
                acquired.shared.forget(resource)
                cancelMove(resource)
                throw .unknownSubscription(resource.id.rawValue)
            }
            if acquired.shared.hasArrived(resource) { finishMove(resource) }
            return true
        }
    }

    /// The values of the subscription that resources move to have come, or the subscription was refused.
    func arrived(_ resources: [SubscriptionResource], at target: SharedSubscription, _ refusal: UpstreamRefusal?) {
        for resource in resources { arrived(resource, at: target, refusal) }
    }

    /// The values of the subscription that a resource moves to have come, or the subscription was refused. No effect if the
    /// move has ended meanwhile, also if another one has begun.
    ///
    /// If the subscription alone was refused, the resource stays where it is, as one that changes alone and whose change the
    /// server refuses; with the session of its account, the resource is refused.
    func arrived(
        _ resource: SubscriptionResource,
        at target: SharedSubscription,
        _ refusal: UpstreamRefusal?,
        isOfSession: Bool = false
    ) {
        resource.changes.withLock { _ in
            guard resource.moveTarget === target else { return }
            guard let refusal else { return finishMove(resource) }
            // Without a user: the machine has removed the subscription that was refused.
            guard resource.endMove() != nil, isOfSession, let former = resource.carrier else { return }
            if former.refuse(resource, refusal) { removeUser(of: former) }
        }
    }

    /// Ends the moves that have waited for the connection of the target's session.
    func finishMoves(to client: PooledClient) {
        guard client.isDelivering.load(ordering: .sequentiallyConsistent) else { return }
        for shared in sharedSubscriptions(on: client) { shared.resumed() }
    }

    /// Ends a move without an effect, and releases its target.
    func cancelMove(_ resource: SubscriptionResource) {
        guard let target = resource.endMove() else { return }
        target.forget(resource)
        removeUser(of: target)
    }

    private func finishMove(_ resource: SubscriptionResource) {
        guard let target = resource.moveTarget else { return }
        // Without a former subscription, which has ended, the resource stays as it is: inactive, or active again.
        guard let former = resource.carrier, target !== former else { return cancelMove(resource) }
        if target.take(resource, from: former) { removeUser(of: former) }
        resource.notifyWatchers()
    }

    func removeUser(of shared: SharedSubscription) {
        guard let id = shared.id else { return }
        let now = clock()
        state.withLock { $0.machine.released(id, at: now) }
    }
}
