internal import LightstreamerClient
internal import SessionCore

/// How a resource comes to the upstream subscription that carries it, and how both part.
extension SessionPool {
    /// Finds or makes the upstream subscription of a resource that becomes active, and lets it join.
    func carry(_ resource: SubscriptionResource) throws(PoolError) {
        switch resource.home {
        case .dedicated(let id):
            let client = try usedClient(id)
            let shared = try makeShared(nil, resource.properties, on: client)
            _ = shared.join(resource)
            subscribe(shared)
        case .pooled(let session):
            let key = SharedKey(session: session, properties: resource.properties)
            // A subscription may end between being found and being joined; then the next one is made.
            while true {
                let shared = try acquire(key)
                if shared.join(resource) { return }
            }
        }
    }

    /// Whether a change of frequency concerns nobody but this resource; then the key follows it.
    func changesAlone(
        _ shared: SharedSubscription,
        _ resource: SubscriptionResource,
        to properties: SubscriptionProperties
    ) -> Bool {
        guard let id = shared.id, case .pooled(let session) = resource.home else { return true }
        let key = SharedKey(session: session, properties: properties)
        return body.withLock { $0.machine.rekeyed(id, to: key) }
    }

    /// Unsubscribes and forgets a resource.
    func deleteResource(_ resource: SubscriptionResource) {
        guard resource.startDeletion() else { return }
        deactivate(resource)
        body.withLock { body in
            body.holders[resource.id] = nil
            if resource.isImplicit { _ = withdraw(resource, from: &body) }
            body.resources[resource.id] = nil
        }
        sink.subscriptionRemoved(resource.id)
        // Whoever waits for a change has waited long enough.
        resource.notifyWatchers()
    }

    /// The linger of a shared subscription is over.
    func closeShared(_ id: SharedID) {
        guard let shared = body.withLock({ $0.shared.removeValue(forKey: id) }) else { return }
        close(shared)
    }

    /// Unsubscribes upstream; resources that still take part are told, implicit ones without readers go.
    func close(_ shared: SharedSubscription) {
        let resources = shared.resources
        for resource in resources { shared.leave(resource) }
        try? shared.client.core.unsubscribe(shared.subscription)
        for resource in resources { dropIfVacant(resource) }
    }

    private func dropIfVacant(_ resource: SubscriptionResource) {
        guard resource.isImplicit, body.withLock({ withdraw(resource, from: &$0) }) else { return }
        deleteResource(resource)
    }

    private func acquire(_ key: SharedKey) throws(PoolError) -> SharedSubscription {
        let fresh = ClientID(RandomID.make(prefix: "c"))
        let (shared, newClient, isNew) = try body.withLock {
            body throws(PoolError) -> (SharedSubscription, PooledClient?, Bool) in
            if body.isStopping { throw .stopping }
            let (id, actions) = try body.machine.acquired(key, freshClient: fresh)
            if let shared = body.shared[id] { return (shared, nil, false) }
            var newClient: PooledClient?
            for action in actions {
                switch action {
                case .openClient(let id, let session):
                    let client = try makePooledClient(id, session)
                    body.clients[id] = client
                    body.clientOrder.append(id)
                    newClient = client
                case .openShared(let id, let key, let clientID):
                    guard let client = body.clients[clientID] else { throw .unknownClient(clientID.rawValue) }
                    body.shared[id] = try makeShared(id, key.properties, on: client)
                case .closeShared, .closeClient:
                    preconditionFailure("acquiring closes nothing")
                }
            }
            guard let shared = body.shared[id] else { preconditionFailure("an acquired subscription is open") }
            return (shared, newClient, true)
        }
        if let newClient {
            start(newClient)
            do throws(ClientError) {
                try newClient.connect()
            } catch {
                discard(newClient)
                guard error.code == .tooManySessions else { throw .lifecycle(rule: error.rule) }
                let limit = configuration.sessionLimit.maxConcurrentSessionsPerServer
                throw .overQuota(.sessionsPerServer(upstream: key.session.upstream, limit: limit))
            }
        }
        if isNew { subscribe(shared) }
        return shared
    }

    /// Forgets a pooled client that must not connect, with what it was to carry.
    private func discard(_ client: PooledClient) {
        closeClient(client)
        body.withLock { body in body.shared = body.shared.filter { $0.value.client !== client } }
    }

    private func makePooledClient(_ id: ClientID, _ session: SessionKey) throws(PoolError) -> PooledClient {
        guard let upstream = upstream(session.upstream) else { throw .unknownUpstream(session.upstream) }
        do throws(ClientError) {
            let core = try LightstreamerClient(
                serverAddress: upstream.serverAddress,
                adapterSet: upstream.adapterSet,
                configuration: configuration(of: id, for: upstream)
            )
            core.connectionDetails.setUser(session.user)
            core.connectionDetails.setPassword(session.password)
            try core.connectionOptions.update { $0 = upstream.options }
            return PooledClient(
                id: id,
                upstream: upstream.name,
                isDedicated: false,
                core: core,
                sink: sink,
                clock: clock
            )
        } catch {
            throw .invalidValue(property: error.property ?? "upstream", rule: error.rule)
        }
    }

    private func subscription(_ properties: SubscriptionProperties) throws(PoolError) -> Subscription {
        do throws(ClientError) {
            return try Subscription(properties: properties)
        } catch {
            throw .invalidValue(property: error.property ?? "subscription", rule: error.rule)
        }
    }

    private func makeShared(
        _ id: SharedID?,
        _ properties: SubscriptionProperties,
        on client: PooledClient
    ) throws(PoolError) -> SharedSubscription {
        SharedSubscription(
            id: id,
            client: client,
            subscription: try subscription(properties),
            properties: properties,
            sink: sink,
            ended: { [weak self] shared in self?.ended(shared) }
        )
    }

    private func subscribe(_ shared: SharedSubscription) {
        shared.subscription.addDelegate(shared)
        // Just made, so it is not active and has items and fields: nothing of what `subscribe` refuses applies.
        try? shared.client.core.subscribe(shared.subscription)
    }

    /// The server refused or removed it: the next who asks makes it anew.
    private func ended(_ shared: SharedSubscription) {
        guard let id = shared.id else { return }
        let now = clock()
        body.withLock { body in
            body.shared[id] = nil
            body.machine.sharedEnded(id, at: now)
        }
    }
}
