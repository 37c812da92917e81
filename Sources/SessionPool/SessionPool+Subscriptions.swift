internal import LightstreamerClient
package import SessionCore

extension SessionPool {
    /// All subscription resources, oldest first.
    package func resources() -> [SubscriptionResource] {
        body.withLock { Array($0.resources.values) }.sorted { $0.ordinal < $1.ordinal }
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
        return try addResource(home: home, properties: properties)
    }

    /// Joins the one implicit resource of these properties, making it if there is none. Give it back by
    /// `leaveImplicit`, once for each join.
    package func joinImplicit(_ key: SharedKey) throws(PoolError) -> SubscriptionResource {
        let (resource, isLingering) = try body.withLock { body throws(PoolError) in
            let resource: SubscriptionResource
            if let present = body.implicit[key] {
                resource = present
            } else {
                resource = try insert(home: .pooled(key.session), isImplicit: true, key.properties, into: &body)
                body.implicit[key] = resource
            }
            let holders = (body.holders[resource.id] ?? 0) + 1
            body.holders[resource.id] = holders
            guard holders == 1, let shared = resource.carrier?.id else { return (resource, true) }
            return (resource, body.machine.reclaimed(shared))
        }
        do {
            // Its linger has just ended: it is carried anew.
            if !isLingering { deactivate(resource) }
            if !resource.state.isActive { try activateIfInactive(resource) }
        } catch {
            leaveImplicit(resource)
            throw error
        }
        return resource
    }

    /// A reader of an implicit resource is gone; after the last one it goes too, after the linger.
    package func leaveImplicit(_ resource: SubscriptionResource) {
        let now = clock()
        let isOver = body.withLock { body in
            let holders = (body.holders[resource.id] ?? 1) - 1
            body.holders[resource.id] = holders
            guard holders <= 0 else { return false }
            guard let shared = resource.carrier?.id else { return withdraw(resource, from: &body) }
            body.machine.released(shared, at: now)
            return false
        }
        if isOver { deleteResource(resource) }
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
        properties: SubscriptionProperties
    ) throws(PoolError) -> SubscriptionResource {
        try body.withLock { body throws(PoolError) in
            try insert(home: home, isImplicit: false, properties, into: &body)
        }
    }

    /// Makes a resource known. The sink is told under the lock: who finds the resource finds it there as well.
    private func insert(
        home: SubscriptionHome,
        isImplicit: Bool,
        _ properties: SubscriptionProperties,
        into body: inout Body
    ) throws(PoolError) -> SubscriptionResource {
        if body.isStopping { throw .stopping }
        let limit = configuration.maxSubscriptionResources
        if body.resources.count >= limit { throw .overQuota(.subscriptionResources(limit: limit)) }
        let resource = SubscriptionResource(
            id: ResourceID(RandomID.make(prefix: "s")),
            home: home,
            isImplicit: isImplicit,
            ordinal: body.nextResource,
            properties: properties
        )
        body.nextResource += 1
        body.resources[resource.id] = resource
        sink.subscriptionAdded(resource)
        return resource
    }

    /// Takes an implicit resource without readers away from those who would join it; false if it has readers.
    func withdraw(_ resource: SubscriptionResource, from body: inout Body) -> Bool {
        guard (body.holders[resource.id] ?? 0) <= 0, case .pooled(let session) = resource.home else { return false }
        let key = SharedKey(session: session, properties: resource.properties)
        if body.implicit[key] === resource { body.implicit[key] = nil }
        return true
    }

    /// Another joiner may activate the same implicit resource at the same time; one of them is enough.
    private func activateIfInactive(_ resource: SubscriptionResource) throws(PoolError) {
        do {
            try activate(resource)
        } catch .lifecycle {
            return
        }
    }
}
