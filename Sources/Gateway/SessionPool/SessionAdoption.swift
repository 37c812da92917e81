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

/// Sessions with a group, which pass from one process to another.
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
}
