internal import LightstreamerClient
package import SessionCore

extension SessionPool {
    /// All subscription resources, oldest first.
    package func resources() -> [SubscriptionResource] {
        body.withLock { body in body.resourceOrder.compactMap { body.resources[$0] } }
    }

    /// The resource of an id.
    package func resource(_ id: ResourceID) -> SubscriptionResource? {
        body.withLock { $0.resources[id] }
    }

    /// Makes a resource that is not active. Throws for an unknown client or upstream and over the limit.
    package func createResource(
        home: SubscriptionHome,
        properties: SubscriptionProperties
    ) throws(PoolError) -> SubscriptionResource {
        switch home {
        case .pooled(let key):
            if upstream(key.upstream) == nil { throw .unknownUpstream(key.upstream) }
        case .dedicated(let id):
            _ = try usedClient(id)
        }
        return try addResource(home: home, isImplicit: false, properties: properties)
    }

    /// Joins the one implicit resource of these properties, making it if there is none. Give it back by
    /// `leaveImplicit`, once for each join.
    package func joinImplicit(
        _ key: SharedKey
    ) throws(PoolError) -> SubscriptionResource {
        let present = body.withLock { body in
            let resource = body.implicit[key]
            if let resource { body.holders[resource.id, default: 0] += 1 }
            return resource
        }
        let resource: SubscriptionResource
        if let present {
            resource = present
        } else {
            resource = try addResource(home: .pooled(key.session), isImplicit: true, properties: key.properties)
            body.withLock { body in
                body.implicit[key] = resource
                body.holders[resource.id] = 1
            }
        }
        do {
            if !resource.state.isActive { try activateIfInactive(resource) } else { reclaim(resource) }
        } catch {
            leaveImplicit(resource)
            throw error
        }
        return resource
    }

    /// A reader of an implicit resource is gone; after the last one it goes too, after the linger.
    package func leaveImplicit(_ resource: SubscriptionResource) {
        let isVacant = body.withLock { body in
            let holders = (body.holders[resource.id] ?? 1) - 1
            body.holders[resource.id] = holders
            return holders <= 0
        }
        guard isVacant else { return }
        if let shared = resource.carrier, let id = shared.id {
            let now = clock()
            body.withLock { $0.machine.released(id, at: now) }
        } else {
            deleteResource(resource)
        }
    }

    /// Subscribes. Throws `lifecycle` if the resource is active, and over quota.
    package func activate(_ resource: SubscriptionResource) throws(PoolError) {
        guard resource.startActivation() else {
            throw .lifecycle(rule: "the subscription is already active")
        }
        sink.subscription(resource.id, becameActive: true)
        do {
            try carry(resource)
        } catch {
            resource.activationFailed()
            sink.subscription(resource.id, becameActive: false)
            throw error
        }
    }

    /// Unsubscribes; the resource stays, its values are gone. No effect if it is not active.
    package func deactivate(_ resource: SubscriptionResource) {
        guard let shared = resource.carrier else { return }
        shared.leave(resource)
        if let id = shared.id {
            let now = clock()
            body.withLock { $0.machine.released(id, at: now) }
        } else {
            close(shared)
        }
    }

    /// Unsubscribes and forgets the resource; `unsubscribed` is its last event.
    package func delete(_ id: ResourceID) throws(PoolError) {
        guard let resource = resource(id) else { throw .unknownSubscription(id.rawValue) }
        deleteResource(resource)
    }

    /// Replaces the properties: all of them while inactive, while active `requestedMaxFrequency` only.
    package func change(_ resource: SubscriptionResource, to properties: SubscriptionProperties) throws(PoolError) {
        let present = resource.properties
        if present == properties { return }
        guard let shared = resource.carrier else {
            resource.setProperties(properties)
            return
        }
        var allowed = present
        allowed.requestedMaxFrequency = properties.requestedMaxFrequency
        if allowed != properties {
            throw .lifecycle(rule: "only requestedMaxFrequency may change while the subscription is active")
        }
        guard present.requestedMaxFrequency != .unfiltered, let frequency = properties.requestedMaxFrequency,
            frequency != .unfiltered
        else {
            throw .lifecycle(
                rule: "requestedMaxFrequency may not change from or to unfiltered, or to null, while active"
            )
        }
        if changesAlone(shared, resource, to: properties) {
            try? shared.subscription.setRequestedMaxFrequency(frequency)
            resource.setProperties(properties)
        } else {
            deactivate(resource)
            resource.setProperties(properties)
            try activate(resource)
        }
    }
}

// MARK: - Carrying

extension SessionPool {
    private func addResource(
        home: SubscriptionHome,
        isImplicit: Bool,
        properties: SubscriptionProperties
    ) throws(PoolError) -> SubscriptionResource {
        let resource = SubscriptionResource(
            id: ResourceID(RandomID.make(prefix: "s")),
            home: home,
            isImplicit: isImplicit,
            properties: properties
        )
        let limit = configuration.maxSubscriptionResources
        try body.withLock { body throws(PoolError) in
            if body.isStopping { throw .stopping }
            if body.resources.count >= limit { throw .overQuota(.subscriptionResources(limit: limit)) }
            body.resources[resource.id] = resource
            body.resourceOrder.append(resource.id)
        }
        sink.subscriptionAdded(resource)
        return resource
    }

    /// Another joiner may activate the same implicit resource at the same time; one of them is enough.
    private func activateIfInactive(_ resource: SubscriptionResource) throws(PoolError) {
        do {
            try activate(resource)
        } catch .lifecycle {
            return
        }
    }

    /// A vacant implicit resource is used again: its linger ends.
    private func reclaim(_ resource: SubscriptionResource) {
        guard let id = resource.carrier?.id else { return }
        let isFirst = body.withLock { $0.holders[resource.id] == 1 }
        if isFirst { body.withLock { $0.machine.reclaimed(id) } }
    }
}
