package import Changes
package import SessionCore

extension SessionPool {
    /// All subscription resources, or those that meet a condition, oldest first.
    package func resources(where isWanted: (SubscriptionResource) -> Bool = { _ in true }) -> [SubscriptionResource] {
        let all = state.withLock { Array($0.resources.byID.values) }
        return all.filter(isWanted).sorted { $0.ordinal < $1.ordinal }
    }

    package var resourceCount: Int { state.withLock { $0.resources.byID.count } }

    /// The numbers of the subscription resources that requests have created, and of those that streams share.
    package var resourceCounts: (posted: Int, joined: Int) {
        let resources = state.withLock { Array($0.resources.byID.values) }
        let joined = resources.count { $0.isImplicit }
        return (resources.count - joined, joined)
    }

    package func resource(_ id: SubscriptionID) -> SubscriptionResource? { state.withLock { $0.resources.byID[id] } }

    package func use(_ resource: SubscriptionResource) { resource.touch(at: clock()) }

    /// The time until a subscription ends if nothing uses it; nil while a stream carries it, and if streams share it.
    package func timeLeft(of resource: SubscriptionResource) -> Duration? {
        if resource.isImplicit { return nil }
        let present = resource.present
        var lastUsed = present.lastUsed
        if let end = sink.lastRead(subscription: resource.id) {
            if end == .never { return nil }
            lastUsed = max(lastUsed, end)
        }
        return max(.zero, lastUsed + present.lifetime(settings.configuration.subscriptionIdle) - clock())
    }

    /// Creates an inactive resource. Throws for an unknown client or upstream and above the limit.
    ///
    /// - Parameters:
    ///   - id: The id of the resource; nil: a new one.
    ///   - ttl: How long the resource is kept unused; nil: as long as the configuration says.
    package func createResource(
        home: SubscriptionHome,
        properties: SubscriptionProperties,
        as id: SubscriptionID? = nil,
        ttl: Duration? = nil
    ) throws(PoolError) -> SubscriptionResource {
        switch home {
        case .pooled(let key):
            if settings.upstream(key.upstream) == nil { throw .unknownUpstream(key.upstream) }
        case .dedicated(let id): _ = try usedClient(id)
        }
        return try state.withLock { state throws(PoolError) in
            // A client that is deleted from now on takes the resource along.
            if case .dedicated(let id) = home, state.clients.byID[id] == nil { throw .unknownClient(id.rawValue) }
            return try insert(id, home: home, isImplicit: false, properties, ttl: ttl, into: &state)
        }
    }

    /// Returns the implicit resource of these properties, created on first use, and adds a reader to it. Each call
    /// needs one call of `leaveImplicit`.
    ///
    /// - Parameter id: The id of the resource if it is created; nil: a new one.
    /// - Returns: The resource, and whether the call has opened an upstream subscription for it.
    package func joinImplicit(
        _ key: SharedKey,
        as id: SubscriptionID? = nil
    ) throws(PoolError) -> (resource: SubscriptionResource, isOpened: Bool) {
        let (resource, isLingering) = try state.withLock { state throws(PoolError) in
            let resource: SubscriptionResource
            if let present = state.resources.implicit[key] {
                resource = present
            } else {
                resource = try insert(id, home: .pooled(key.session), isImplicit: true, key.properties, into: &state)
            }
            let isFirst = state.resources.addReader(of: resource)
            guard isFirst, let shared = resource.carrier?.id else { return (resource, true) }
            return (resource, state.machine.reclaimed(shared))
        }
        do throws(PoolError) {
            // The linger of its upstream subscription has just ended: the resource needs a new subscription.
            if !isLingering { makeInactive(resource) }
            return (resource, isOpened: try activateIfInactive(resource))
        } catch {
            leaveImplicit(resource)
            throw error
        }
    }

    /// Removes a reader of an implicit resource; after the last one the resource is deleted, once the linger is over, also
    /// if other resources use its upstream subscription.
    package func leaveImplicit(_ resource: SubscriptionResource) {
        let now = clock()
        let end = now + settings.configuration.subscriptionLinger
        let isOver = state.withLock { state in
            guard state.resources.removeReader(of: resource) else { return false }
            guard let shared = resource.carrier?.id else { return state.resources.withdraw(resource) }
            state.machine.released(shared, at: now)
            state.resources.linger(resource, until: end)
            return false
        }
        if isOver { deleteResource(resource) }
    }

    /// Deletes implicit resources without readers, which were withdrawn: they are no users of their upstream subscriptions.
    func deleteUnread(_ resources: [SubscriptionResource]) {
        for resource in resources {
            resource.carrier?.leave(resource)
            deleteResource(resource)
        }
    }

    /// Removes an implicit resource at once, with all of its readers. Its upstream subscription is closed without a
    /// linger, unless other resources use it.
    package func discardImplicit(_ resource: SubscriptionResource) {
        let shared = resource.carrier?.id
        deleteResource(resource)
        guard let shared else { return }
        let now = clock()
        if state.withLock({ $0.machine.closedIfUnused(shared, at: now) }) { closeShared(shared) }
    }

    /// Reports all resources that are not implicit to the sink again, as if they were created and joined now.
    package func reportAgain() {
        for resource in resources() where !resource.isImplicit {
            sink.take(.subscription(resource.id, .added(resource.properties)))
            let status = resource.status
            if let lastError = status.lastError {
                let failure = SubscriptionEvent.failed(code: lastError.code, message: lastError.message)
                sink.take(.subscription(resource.id, .event(failure)))
            }
            sink.take(.subscription(resource.id, .activity(isActive: status.isActive)))
            resource.carrier?.reportAgain(resource)
        }
    }

    /// Subscribes. Throws `lifecycle` if the resource is active, and `overQuota` if a quota is used up. Returns whether
    /// an upstream subscription was opened.
    @discardableResult
    package func activate(_ resource: SubscriptionResource) throws(PoolError) -> Bool {
        try resource.changes.withLock { _ throws(PoolError) in try makeActive(resource) }
    }

    /// Unsubscribes; the resource stays, its values are gone. No effect if it is not active.
    package func deactivate(_ resource: SubscriptionResource) {
        resource.changes.withLock { _ in makeInactive(resource) }
    }

    func makeInactive(_ resource: SubscriptionResource) {
        cancelMove(resource)
        // A deletion does not wait for a request that changes the resource: one of them removes the user.
        guard let shared = resource.carrier, shared.leave(resource) else { return }
        if shared.id == nil { close(shared) } else { removeUser(of: shared) }
    }

    /// Unsubscribes and removes the resource; `unsubscribed` is its last event.
    package func delete(_ id: SubscriptionID) throws(PoolError) {
        guard let resource = resource(id) else { throw .unknownSubscription(id.rawValue) }
        deleteResource(resource)
    }

    /// Registers a resource. The sink is called under the lock: it knows each resource that can be looked up.
    func insert(
        _ id: SubscriptionID?,
        home: SubscriptionHome,
        isImplicit: Bool,
        _ properties: SubscriptionProperties,
        ttl: Duration? = nil,
        into state: inout State
    ) throws(PoolError) -> SubscriptionResource {
        if state.isStopping { throw .stopping }
        let limit = settings.configuration.maxSubscriptionResources
        if state.resources.byID.count >= limit { throw .overQuota(.subscriptionResources(limit: limit)) }
        let resource = SubscriptionResource(
            id: id ?? SubscriptionID(RandomID.make(prefix: "s")),
            home: home,
            isImplicit: isImplicit,
            ordinal: state.resources.nextOrdinal,
            // A resource with a given id may have existed in another process, with other values for the same versions.
            version: id == nil ? 0 : .random(in: 0..<1 << 48),
            properties: properties,
            ttl: ttl,
            now: clock()
        )
        state.resources.insert(resource)
        sink.take(.subscription(resource.id, .added(properties)))
        return resource
    }

    /// Activates a resource unless it is active; another reader may do so at the same time. Returns whether an upstream
    /// subscription was opened.
    @discardableResult
    package func activateIfInactive(_ resource: SubscriptionResource) throws(PoolError) -> Bool {
        if resource.status.isActive { return false }
        do {
            return try activate(resource)
        } catch .lifecycle {
            return false
        }
    }
}
