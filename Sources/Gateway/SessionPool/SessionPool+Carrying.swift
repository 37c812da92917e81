internal import Changes
internal import LightstreamerClient
internal import SessionCore
internal import Synchronization

/// Connects resources to the upstream subscriptions that carry them.
extension SessionPool {
    /// Finds or opens the upstream subscription of a resource that is not active, and adds the resource to it. Returns
    /// whether the upstream subscription was opened. Throws `lifecycle` for an active resource, and `unknownSubscription` for
    /// one that is deleted meanwhile.
    ///
    /// The resource is added before a new client connects and before a new subscription is sent to the server, so that
    /// all events of both follow.
    func makeActive(_ resource: SubscriptionResource) throws(PoolError) -> Bool {
        let present = resource.present
        guard !present.status.isActive, !present.isDeleted else {
            throw .lifecycle(rule: "the subscription is already active")
        }
        let properties = present.properties
        guard !properties.items.isUnset, !properties.fields.isUnset else {
            let missing = properties.items.isUnset ? "items" : "fields"
            throw .invalidValue(property: missing, rule: "must not be an empty list")
        }
        var isNew = true
        switch resource.home {
        case .dedicated(let id):
            let client = try usedClient(id)
            let shared = SharedSubscription(id: nil, client: client, properties: properties, pool: self)
            _ = shared.join(resource)
            try open(Acquired(shared: shared, isNew: true))
        case .pooled(let session):
            let key = SharedKey(session: session, properties: properties)
            // A subscription may end after it was found and before the resource joins it; then another one is acquired.
            var hasJoined = false
            while !hasJoined {
                let acquired = try acquire(key)
                hasJoined = acquired.shared.join(resource)
                try open(acquired)
                isNew = acquired.isNew
            }
        }
        // The deletion, which does not wait, has perhaps found no upstream subscription to leave.
        guard resource.present.isDeleted else { return isNew }
        makeInactive(resource)
        throw .unknownSubscription(resource.id.rawValue)
    }

    /// The shared upstream subscriptions that a pooled client carries; those of a dedicated client are not listed.
    func sharedSubscriptions(on client: PooledClient) -> [SharedSubscription] {
        state.withLock { $0.clients.shared.values.filter { $0.client === client } }
    }

    func deleteResource(_ resource: SubscriptionResource) {
        guard resource.startDeletion() else { return }
        makeInactive(resource)
        state.withLock { $0.resources.remove(resource) }
        sink.take(.subscription(resource.id, .removed))
        removed(.subscription(resource.id))
        // Wake waiters: the resource is deleted.
        resource.watchers.notify()
    }

    /// Wakes the waiters for values that a client carries: these become stale, or fresh again.
    func notifyWatchers(of client: PooledClient) {
        let resources = state.withLock { Array($0.resources.byID.values) }
        for resource in resources where !resource.watchers.isEmpty && resource.client === client {
            resource.watchers.notify()
        }
    }

    /// Closes a shared subscription whose linger is over.
    func closeShared(_ id: SharedID) {
        guard let shared = state.withLock({ $0.clients.remove(id) }) else { return }
        close(shared)
    }

    /// Unsubscribes upstream and releases the resources that the subscription still serves.
    func close(_ shared: SharedSubscription) {
        release(shared)
        try? shared.client.core.unsubscribe(shared.subscription)
    }

    /// Releases the resources that an upstream subscription still serves; implicit ones without readers are deleted.
    func release(_ shared: SharedSubscription) {
        shared.end()
        let resources = shared.resources
        for resource in resources { shared.leave(resource) }
        if let id = shared.id { state.withLock { _ = $0.clients.remove(id) } }
        for resource in resources where state.withLock({ $0.resources.withdraw(resource) }) { deleteResource(resource) }
    }

    /// The upstream subscription of a key, with the caller as one more user of it. Needs one call of `open(_:)`.
    func acquire(_ key: SharedKey) throws(PoolError) -> Acquired {
        var lingering: [SharedID] = []
        let result: Result<Acquired, PoolError> = state.withLock { state in
            // Under the lock, which a change of the credentials and of the quotas takes as well.
            let key = SharedKey(session: settings.present(key.session), properties: key.properties)
            while true {
                do throws(PoolError) {
                    return .success(try open(key, in: &state))
                } catch {
                    guard case .overQuota = error, lingering.isEmpty else { return .failure(error) }
                    // If subscriptions that linger use up the quota, they make room, which no other request takes.
                    lingering = state.machine.makeRoom(for: key)
                    if lingering.isEmpty { return .failure(error) }
                }
            }
        }
        for id in lingering { closeShared(id) }
        let acquired = try result.get()
        let client = acquired.shared.client
        if acquired.newClient != nil {
            start(client)
        } else if !client.isReported.load(ordering: .acquiring) {
            // The request that has made the client has not reported it yet: the sink knows a client before its subscriptions,
            // and ignores a second report.
            client.reportAddition()
        }
        return acquired
    }

    /// Connects the client and sends the subscription that were created. If the client may not connect, it is removed
    /// with its subscriptions.
    func open(_ acquired: Acquired) throws(PoolError) {
        if let client = acquired.newClient {
            if let refusal = recentRefusal(of: client) { return refuseLater(client, refusal) }
            try connect(client)
        }
        guard acquired.isNew else { return }
        let shared = acquired.shared
        // A new subscription is inactive and has items and fields, so `subscribe` cannot throw.
        try? shared.client.core.subscribe(shared.subscription, observer: shared)
    }

    /// An upstream subscription, and what was created for it.
    struct Acquired {
        let shared: SharedSubscription
        var isNew = false
        var newClient: PooledClient?
    }

    /// Finds or creates the upstream subscription of a key. If it cannot be created, nothing has changed.
    private func open(_ key: SharedKey, in state: inout State) throws(PoolError) -> Acquired {
        if state.isStopping { throw .stopping }
        let fresh = state.clients.nextID
        let (id, carrier) = try state.machine.acquired(key, freshClient: fresh)
        if let shared = state.clients.shared[id] { return Acquired(shared: shared) }
        do throws(PoolError) {
            var newClient: PooledClient?
            if carrier == fresh { newClient = state.clients.insert(try makePooledClient(fresh, key.session)) }
            guard let client = state.clients.byID[carrier] else { throw .unknownClient(carrier.rawValue) }
            let shared = SharedSubscription(id: id, client: client, properties: key.properties, pool: self)
            state.clients.insert(shared, id)
            return Acquired(shared: shared, isNew: true, newClient: newClient)
        } catch {
            state.machine.sharedEnded(id, at: clock())
            state.machine.clientRemoved(fresh)
            throw error
        }
    }

    /// The pooled client that sends messages with these credentials: the oldest open one, else a new one. A client
    /// without subscriptions is kept for the session linger, and for `time` at least. If the server has refused these
    /// credentials a short time ago, the client does not connect, and ends at the next tick of the pool: its messages are
    /// aborted.
    package func messenger(_ session: SessionKey, for time: Duration) throws(PoolError) -> PooledClient {
        let now = clock()
        let end = now + max(time, settings.configuration.sessionLinger)
        let (client, isNew) = try state.withLock { state throws(PoolError) in
            if state.isStopping { throw .stopping }
            let (fresh, session) = (state.clients.nextID, settings.present(session))
            let id = try state.machine.messenger(session, freshClient: fresh, until: end)
            if let present = state.clients.byID[id] { return (present, false) }
            do throws(PoolError) {
                return (state.clients.insert(try makePooledClient(id, session)), true)
            } catch {
                state.machine.clientRemoved(id)
                throw error
            }
        }
        if isNew {
            start(client)
            if let refusal = recentRefusal(of: client) {
                state.withLock { $0.refused.add((client, refusal)) }
            } else {
                try connect(client)
            }
        }
        return client
    }

    /// Connects a new client. If it may not connect, it is removed with its subscriptions.
    func connect(_ client: PooledClient) throws(PoolError) {
        do throws(ClientError) {
            try client.connect()
        } catch {
            closeClient(client)
            guard error.code == .tooManySessions else { throw .lifecycle(rule: error.rule) }
            let limit = settings.configuration.sessionLimit.maxConcurrentSessionsPerServer
            throw .overQuota(.sessionsPerServer(upstream: client.upstream ?? "", limit: limit))
        }
    }

    func makePooledClient(_ id: ClientID, _ session: SessionKey) throws(PoolError) -> PooledClient {
        guard let upstream = settings.upstream(session.upstream) else { throw .unknownUpstream(session.upstream) }
        let isTransferable = session.group != nil
        let handover = isTransferable ? SessionHandover { [sink] in sink.ownsSessions } : nil
        do throws(ClientError) {
            let core = try LightstreamerClient(
                serverAddress: upstream.serverAddress,
                adapterSet: upstream.adapterSet,
                configuration: settings.clientConfiguration(of: id, for: upstream, isShared: true, handover: handover)
            )
            core.connectionDetails.setUser(session.user)
            core.connectionDetails.setPassword(session.password)
            try upstream.apply(to: core)
            return PooledClient(
                id: id,
                upstream: upstream,
                isDedicated: false,
                isTransferable: isTransferable,
                core: core,
                pool: self
            )
        } catch {
            throw .invalidValue(property: error.property ?? "upstream", rule: error.rule)
        }
    }

    /// The server refused or removed the subscription: the next request for it opens a new one. Implicit resources without
    /// readers, which had lingered with it, are deleted.
    func ended(_ shared: SharedSubscription, _ resources: [SubscriptionResource]) {
        guard let id = shared.id else { return }
        let now = clock()
        state.withLock { state in
            state.clients.remove(id)
            state.machine.sharedEnded(id, at: now)
        }
        for resource in resources where state.withLock({ $0.resources.withdraw(resource) }) { deleteResource(resource) }
    }
}
