package import Changes
internal import LightstreamerClient
package import SessionCore
internal import Synchronization

/// A session of another process that a pool continues.
package struct SessionAdoption: Sendable {
    /// A subscription of the session, for an implicit resource.
    package struct Subscription: Sendable {
        package let id: SubscriptionID
        /// The `LS_subId` of the subscription.
        package let number: Int
        /// The values after the data notifications that were processed.
        package let table: ValueTable

        /// A subscription with one level, which is subscribed.
        package init(id: SubscriptionID, number: Int, table: ValueTable) {
            self.id = id
            self.number = number
            self.table = table
        }
    }

    package let client: ClientID
    /// The account and the group of the session.
    package let key: SessionKey
    package let session: OfferedSession
    /// The subscriptions of the session, each with one reader.
    package let subscriptions: [Subscription]

    package init(client: ClientID, key: SessionKey, session: OfferedSession, subscriptions: [Subscription]) {
        self.client = client
        self.key = key
        self.session = session
        self.subscriptions = subscriptions
    }
}

/// Sessions that begin or end without a request: those with a group pass from one process to another, servers refuse sessions,
/// and a new configuration of an upstream replaces its sessions.
extension SessionPool {
    /// Continues a session of another process, with the ids that its client and resources had there. Their state is not
    /// reported to the sink, only its changes from now on. Returns the resources, in the order of the subscriptions.
    ///
    /// Throws if the client or one of the subscriptions exists already; then nothing has changed.
    package func adopt(_ adopted: SessionAdoption) throws(PoolError) -> [SubscriptionResource] {
        let client = try makePooledClient(adopted.client, adopted.key)
        client.isReported.store(true, ordering: .releasing)
        let opened = try state.withLock { state throws(PoolError) in try register(adopted, on: client, in: &state) }
        observe(client, isAdopting: true)
        for entry in opened {
            entry.shared.adopt(entry.resource, entry.subscription.table)
            entry.shared.subscription.addObserver(entry.shared)
        }
        client.core.isSessionOffered = true
        client.core.adopt(
            adopted.session,
            opened.map { ($0.shared.subscription, number: $0.subscription.number, table: $0.subscription.table) }
        )
        return opened.map(\.resource)
    }

    private typealias Opened = (
        shared: SharedSubscription, resource: SubscriptionResource, subscription: SessionAdoption.Subscription
    )

    private func register(
        _ adopted: SessionAdoption,
        on client: PooledClient,
        in state: inout State
    ) throws(PoolError) -> [Opened] {
        if state.isStopping { throw .stopping }
        let keys = adopted.subscriptions.map { SharedKey(session: adopted.key, properties: $0.table.properties) }
        guard state.clients.byID[adopted.client] == nil, keys.allSatisfy({ state.resources.implicit[$0] == nil }),
            let ids = state.machine.adopted(adopted.client, adopted.key, keys)
        else { throw .lifecycle(rule: "the session is open already") }
        var opened: [Opened] = []
        do throws(PoolError) {
            for ((id, key), subscription) in zip(zip(ids, keys), adopted.subscriptions) {
                let shared = SharedSubscription(id: id, client: client, properties: key.properties, pool: self)
                let home = SubscriptionHome.pooled(key.session)
                let resource = try insert(subscription.id, home: home, isImplicit: true, key.properties, into: &state)
                opened.append((shared, resource, subscription))
            }
        } catch {
            state.machine.clientRemoved(adopted.client)
            for entry in opened { state.resources.remove(entry.resource) }
            throw error
        }
        for (id, entry) in zip(ids, opened) {
            state.clients.insert(entry.shared, id)
            state.resources.addReader(of: entry.resource)
        }
        state.clients.insert(client)
        return opened
    }

    /// The clients whose sessions other processes can continue.
    package var transferableClients: [ClientID] { clients().filter(\.isTransferable).map(\.id) }

    /// Leaves all sessions that other processes can continue, and sends nothing to their servers. Their clients are
    /// removed, and their implicit resources become inactive; other resources continue on other sessions.
    package func abandonTransferable() { for client in clients() where client.isTransferable { abandon(client) } }

    private func abandon(_ client: PooledClient) {
        let others = sharedSubscriptions(on: client).flatMap(\.resources).filter { !$0.isImplicit }
        client.startAbandoning()
        client.core.abandon()
        closeClient(client)
        reportRemoval(of: client)
        for resource in others { _ = try? activate(resource) }
    }

    func sessionRefused(_ client: PooledClient, _ refusal: UpstreamRefusal) {
        if renewIfOutdated(client) { return }
        let now = clock()
        let isOpen = state.withLock { state in
            guard let session = state.machine.session(of: client.id) else { return false }
            state.refused.refused(client, of: session, refusal, at: now)
            return true
        }
        if isOpen { end([(client, refusal)]) }
    }

    /// Refuses the subscriptions of a client and removes it; the next request for one of them opens another client. Returns
    /// the resources that move to these subscriptions.
    private func refuse(
        _ client: PooledClient,
        _ refusal: UpstreamRefusal
    ) -> [(resource: SubscriptionResource, target: SharedSubscription)] {
        // No subscription is added to the client from now on.
        state.withLock { $0.machine.clientRemoved(client.id) }
        let moving = sharedSubscriptions(on: client).flatMap { target in
            target.refuse(refusal).map { (resource: $0, target: target) }
        }
        closeClient(client)
        return moving
    }

    /// Refuses the subscriptions of a client that was not connected, for a caller that holds the `changes` of a resource.
    /// Resources that move to these subscriptions are refused when the lock is free: at the next tick of the pool.
    func refuseLater(_ client: PooledClient, _ refusal: UpstreamRefusal) {
        let moving = refuse(client, refusal)
        state.withLock { $0.refused.add(moving.map { ($0.resource, $0.target, refusal) }) }
    }

    /// Refuses clients with the subscriptions that they have, or that move to them.
    func end(_ refused: [RefusedSessions.Refused]) {
        for (client, refusal) in refused {
            for move in refuse(client, refusal) { arrived(move.resource, at: move.target, refusal, isOfSession: true) }
        }
    }

    /// The client of an upstream that was refused by the last attempt, a while ago at most; nil: there is none.
    package func refusedClient(of upstream: String) -> PooledClient? {
        let now = clock()
        return state.withLock { $0.refused.client(of: upstream, at: now) }
    }

    /// The refusal of a session with the account of a new client, if the last one was refused a short time ago.
    func recentRefusal(of client: PooledClient) -> UpstreamRefusal? {
        let now = clock()
        return state.withLock { state in
            guard let session = state.machine.session(of: client.id) else { return nil }
            return state.refused.recentRefusal(of: session, at: now)
        }
    }

    /// Closes an outdated session that does not deliver. Its subscriptions continue on sessions with the present configuration,
    /// and its messages are aborted. False for other sessions, which stay as they are.
    @discardableResult
    func renewIfOutdated(_ client: PooledClient) -> Bool {
        let isOver = state.withLock { state in
            if state.isStopping || client.isDelivering.load(ordering: .sequentiallyConsistent) { return false }
            // No subscription is added to the client from now on.
            return state.machine.outdatedRemoved(client.id)
        }
        guard isOver else { return false }
        // All of them first: a refusal of the session, which may come at the same time, does not concern them any more.
        let ended = sharedSubscriptions(on: client).map { (shared: $0, moving: $0.end(), served: $0.resources) }
        for resource in ended.flatMap({ $0.moving }) { renew(resource, from: nil) }
        for (shared, _, served) in ended {
            for resource in served { renew(resource, from: shared) }
        }
        closeClient(client)
        return true
    }

    /// Continues the resources for which there was no room, or were no credits, when their sessions were closed.
    func renewUnserved() {
        let unserved = state.withLock { $0.resources.takeUnserved() }
        for resource in unserved where resource.carrier == nil { renew(resource, from: nil) }
    }

    /// What the resources without a session need beyond the credits of their upstreams, for one resource of each upstream.
    package var shortages: [CreditShortage] {
        var shortages: [String: CreditShortage] = [:]
        for resource in state.withLock({ $0.resources.unserved }) {
            guard case .pooled(let session) = resource.home else { continue }
            do throws(PoolError) {
                try checkCredits(for: SharedKey(session: session, properties: resource.properties))
            } catch {
                if case .creditsNeeded(let shortage) = error { shortages[shortage.upstream] = shortage }
            }
        }
        return shortages.values.sorted { $0.upstream < $1.upstream }
    }

    /// Continues a resource on another upstream subscription, unless a request has changed it meanwhile.
    ///
    /// - Parameter former: The subscription that serves the resource; nil: any or none, because the target of a move has ended.
    private func renew(_ resource: SubscriptionResource, from former: SharedSubscription?) {
        let isUnread = state.withLock { state in
            if state.resources.withdraw(resource) { return true }
            // A reader that leaves meanwhile is not the last one.
            if resource.isImplicit { state.resources.addReader(of: resource) }
            return false
        }
        if isUnread { return deleteResource(resource) }
        resource.changes.withLock { _ in
            guard !resource.isDeleted, former == nil || resource.carrier === former else { return }
            if let carrier = resource.carrier {
                cancelMove(resource)
                guard carrier.handOver(resource) else { return }
                removeUser(of: carrier)
            }
            do {
                _ = try makeActive(resource)
            } catch {
                // At the next tick again.
                state.withLock { $0.resources.keepUnserved(resource) }
                guard former != nil else { return }
                logger.warning(
                    "subscription waits, because the present configuration of its upstream does not carry it",
                    metadata: ["subscription": "\(resource.id)", "error": "\(error)"]
                )
                resource.notifyWatchers()
            }
        }
        if resource.isImplicit, !resource.isDeleted { leaveImplicit(resource) }
    }
}
