package import Changes
package import LightstreamerClient
package import Logging
package import Primitives
internal import SessionCore
internal import Synchronization

/// Shares few upstream sessions among many consumers: owns the clients and the subscriptions that they carry.
///
/// Calls take effect at once and never wait for the network. `run()` closes sessions and subscriptions without users.
package final class SessionPool: Sendable {
    struct State: ~Copyable {
        var machine: PoolMachine
        var clients = ClientTable()
        var resources = ResourceTable()
        var refused = RefusedSessions()
        var isStopping = false
        var expiry = ExpiryCheck()
    }

    /// How often the pool checks what lingers.
    private static let tick = Duration.milliseconds(250)

    let sink: any PoolSink
    let removed: @Sendable (TopicID) -> Void
    let logger: Logger
    let clock: @Sendable () -> Moment
    let state: RankedMutex<State>
    package let settings: PoolSettings
    package let upstreamMetrics = UpstreamMetrics()
    let observeConnection: ConnectionObserver?
    /// The ids of the subscriptions that callers use, by their accounts.
    private let held: @Sendable () -> [String: Set<String>]
    private let retired = AsyncStream.makeStream(of: PooledClient.self)

    /// A pool that passes its events to a sink, and reports removals, and failures and successes of connections, to
    /// observers.
    ///
    /// - Parameter held: The ids of the subscriptions that callers use, by their accounts.
    package init(
        configuration: PoolConfiguration,
        sink: any PoolSink,
        removed: @escaping @Sendable (TopicID) -> Void = { _ in },
        clientConfiguration: ClientConfiguration = ClientConfiguration(),
        logger: Logger,
        clock: @escaping @Sendable () -> Moment = Moment.monotonic,
        held: @escaping @Sendable () -> [String: Set<String>] = { [:] },
        observeConnection: ConnectionObserver? = nil
    ) {
        self.held = held
        self.observeConnection = observeConnection
        settings = PoolSettings(configuration, clients: clientConfiguration)
        self.sink = sink
        self.removed = removed
        self.logger = logger
        self.clock = clock
        state = RankedMutex(State(machine: PoolMachine(configuration: configuration)), rank: .sessionPool)
    }

    /// Replaces upstreams, quotas and lingers. A session is outdated if the upstream is gone, or has changed in more than the
    /// quotas: the session closes after the last subscription, and further subscriptions go to a new session, as long as
    /// there may be one. The subscriptions of an outdated session that does not deliver move to a new session, unless the
    /// upstream is gone.
    package func reload(_ configuration: PoolConfiguration) {
        // Under one lock, so that an acquisition uses the upstreams that the machine's quotas belong to.
        state.withLock { state in
            settings.replace(with: configuration)
            state.machine.configurationChanged(configuration)
            state.refused.configurationChanged()
        }
        for client in clients() { renewIfOutdated(client) }
    }

    /// Closes what lingers until cancelled, then disconnects every client and waits for all of them.
    package func run() async {
        // A group that keeps results would keep every task that ended.
        await withDiscardingTaskGroup { group in
            group.addTask {
                while (try? await Task.sleep(for: Self.tick)) != nil { self.timePassed() }
            }
            // A cancellation ends the stream: clients that are closed later are not in it.
            for await client in retired.stream {
                group.addTask { await self.retire(client) }
            }
            for client in stop() { group.addTask { await client.core.shutdown() } }
        }
    }

    /// Disconnects all clients, and returns them.
    private func stop() -> [PooledClient] {
        let (clients, shared) = state.withLock { state in
            state.isStopping = true
            return (Array(state.clients.byID.values), Array(state.clients.shared.values))
        }
        // The streams are closed already: nothing is reported.
        for shared in shared { shared.end() }
        for client in clients { closeClient(client) }
        return clients
    }

    private func retire(_ client: PooledClient) async {
        await client.core.shutdown()
        upstreamMetrics.removed(client)
        if !client.isAbandoned { reportRemoval(of: client) }
    }

    func reportRemoval(of client: PooledClient) {
        client.reportRemoval()
        removed(.client(client.id))
    }

    /// Closes what has lingered or idled long enough.
    func timePassed() {
        let now = clock()
        let (actions, unread, refused, isExpiryDue) = state.withLock { state in
            let actions = state.machine.timePassed(at: now)
            let unread = state.resources.withdrawLingering(at: now)
            return (actions, unread, state.refused.take(), state.expiry.isDue(at: now))
        }
        for (resource, target, refusal) in refused.moves { arrived(resource, at: target, refusal, isOfSession: true) }
        end(refused.messengers)
        for action in actions {
            switch action {
            case .closeShared(let id): closeShared(id)
            case .closeClient(let id):
                if let client = client(id) { closeClient(client) }
            }
        }
        deleteUnread(unread)
        renewUnserved()
        for client in clients() { client.reconnectIfDue(at: now) }
        endUnused(at: now, withSubscriptions: isExpiryDue)
    }

    // MARK: - Clients

    /// All clients, oldest first.
    package func clients() -> [PooledClient] { state.withLock { Array($0.clients.byID.values) } }

    package func client(_ id: ClientID) -> PooledClient? { state.withLock { $0.clients.byID[id] } }

    /// The client of an id, now used by a call; throws `unknownClient`.
    package func usedClient(_ id: ClientID) throws(PoolError) -> PooledClient {
        guard let client = client(id) else { throw .unknownClient(id.rawValue) }
        client.touch(at: clock())
        return client
    }

    /// Creates a dedicated client, not connected. `prepare` may set its options and details; if it throws, no client is
    /// created.
    ///
    /// - Parameter id: The id of the client; nil: a new one.
    package func createClient(
        _ specification: ClientSpecification,
        as id: ClientID? = nil,
        prepare: (LightstreamerClient) throws -> Void = { _ in }
    ) throws -> PooledClient {
        let (upstream, address) = try resolve(specification.target)
        let id = id ?? ClientID(RandomID.make(prefix: "c"))
        let core = try LightstreamerClient(
            serverAddress: address,
            adapterSet: specification.adapterSet ?? upstream?.adapterSet,
            configuration: settings.clientConfiguration(of: id, for: upstream)
        )
        core.connectionDetails.setUser(specification.user ?? upstream?.user)
        core.connectionDetails.setPassword(specification.password ?? upstream?.password)
        try upstream?.apply(to: core)
        try prepare(core)
        let client = PooledClient(id: id, upstream: upstream, isDedicated: true, core: core, pool: self)
        let limit = settings.configuration.maxDedicatedClients
        try state.withLock { state throws(PoolError) in
            if state.isStopping { throw .stopping }
            if state.clients.byID.values.count(where: { $0.isDedicated }) >= limit {
                throw .overQuota(.dedicatedClients(limit: limit))
            }
            state.clients.insert(client)
        }
        start(client)
        logger.debug("client created", metadata: ["client": "\(id)", "upstream": "\(upstream?.name ?? "-")"])
        return client
    }

    /// Disconnects a client and removes it and its subscriptions; events that are under way are still delivered.
    package func deleteClient(_ id: ClientID) throws(PoolError) {
        guard let client = client(id) else { throw .unknownClient(id.rawValue) }
        closeClient(client)
    }

    /// Disconnects a client that another process has now. Its removal is reported at once, and nothing of it later: this
    /// process may have the client again before its session has ended. No effect if there is no such client.
    package func abandon(_ id: ClientID) {
        guard let client = client(id) else { return }
        client.startAbandoning()
        closeClient(client)
        reportRemoval(of: client)
    }

    /// A stream that shows the client, or one of its subscriptions, opened.
    package func streamOpened(on id: ClientID) { client(id)?.streamsChanged(by: 1, at: clock()) }

    /// A stream that shows the client, or one of its subscriptions, ended.
    package func streamClosed(on id: ClientID) { client(id)?.streamsChanged(by: -1, at: clock()) }

    /// The active subscriptions of a client, in the order in which the client subscribed to them.
    package func subscriptions(of client: PooledClient) -> [SubscriptionResource] {
        client.core.subscriptions.flatMap { subscription in
            let shared = subscription.observers.compactMap { $0 as? SharedSubscription }
            return shared.flatMap(\.resources).sorted { $0.ordinal < $1.ordinal }
        }
    }

    private func resolve(_ target: ClientSpecification.Target) throws(PoolError) -> (UpstreamConfiguration?, String) {
        switch target {
        case .upstream(let name):
            guard let upstream = settings.upstream(name) else { throw .unknownUpstream(name) }
            return (upstream, upstream.serverAddress)
        case .address(let address): return (nil, address)
        }
    }

    /// Updates of a client can arrive again, or no longer, or the server has refused the session of a dedicated client.
    func deliveryChanged(of client: PooledClient) {
        notifyWatchers(of: client)
        finishMoves(to: client)
        renewIfOutdated(client)
    }

    /// Reports the client to the sink and starts to observe it.
    func start(_ client: PooledClient) {
        client.reportAddition()
        observe(client)
    }

    /// Starts to observe a client that the sink knows. `isAdopting`: it continues the session of another process.
    func observe(_ client: PooledClient, isAdopting: Bool = false) {
        upstreamMetrics.added(client)
        client.startReporting(isAdopting: isAdopting)
    }

    func closeClient(_ client: PooledClient) {
        guard client.startClosing() else { return }
        let isStopping = state.withLock { state in
            state.clients.remove(client)
            // At a stop, nothing is opened any more.
            if !state.isStopping { state.machine.clientRemoved(client.id) }
            return state.isStopping
        }
        if client.isDedicated {
            for resource in resources(where: { $0.home == .dedicated(client.id) }) { deleteResource(resource) }
        }
        // The server ends the subscriptions with the session: no request is sent for each of them.
        if !isStopping { for shared in sharedSubscriptions(on: client) { release(shared) } }
        client.core.disconnect()
        // The status of a client without a connection does not change.
        client.watchers.notify()
        retired.continuation.yield(client)
        logger.debug("client closed", metadata: ["client": "\(client.id)"])
    }
}

/// The credits of a pool that shares the limits of its upstreams with other processes.
extension SessionPool {
    /// The pool has no credits from now on, and needs them for what it opens.
    package func requireCredits() { state.withLock { $0.machine.requireCredits() } }

    /// The open pooled sessions of an upstream, their subscriptions, lingering ones included, and the items of these.
    package func figures(of upstream: String) -> UpstreamCredits { state.withLock { $0.machine.figures(of: upstream) } }

    package var creditedUpstreams: [String] { state.withLock { $0.machine.credits?.names ?? [] } }

    package func credits(of upstream: String) -> UpstreamCredits {
        state.withLock { $0.machine.credits?.held(of: upstream) ?? .none }
    }

    /// Throws `creditsNeeded`, without effects, if credits are missing for an upstream subscription of this key.
    package func checkCredits(for key: SharedKey) throws(PoolError) {
        try state.withLock { state throws(PoolError) in
            try state.machine.check(SharedKey(session: settings.present(key.session), properties: key.properties))
        }
    }

    /// Changes the credits of an upstream under the lock of the pool; `change` gets what is in use.
    @discardableResult
    package func changeCredits<Result: Sendable>(
        of upstream: String,
        _ change: (inout PoolCredits, _ used: UpstreamCredits) -> Result
    ) -> Result? {
        state.withLock { $0.machine.changeCredits(of: upstream, change) }
    }

    // MARK: - Values

    /// The subscription that ends because a grown subscription exceeds the budget of the upstream (see `ValueShares`).
    func subscriptionToEnd(for grown: SharedSubscription) -> SharedSubscription {
        var accounts: [String: Set<String>] = [:]
        for (account, ids) in held() { for id in ids { accounts[id, default: []].insert(account) } }
        var shares = ValueShares()
        for resource in state.withLock({ Array($0.resources.byID.values) }) {
            guard let carrier = resource.carrier, carrier.client.values === grown.client.values else { continue }
            shares.add(carrier, usedBy: accounts[resource.id.rawValue])
        }
        return shares.subscriptionToEnd(for: grown)
    }
}

/// The server of a dedicated client, and the parameters of its connection.
package struct ClientSpecification: Sendable {
    package enum Target: Sendable {
        /// A configured upstream, with its own credentials unless others are given.
        case upstream(String)
        /// An address that the allow-list must cover.
        case address(String)
    }

    package var target: Target
    /// The adapter set; nil: the upstream's, or the server's `DEFAULT`.
    package var adapterSet: String?
    /// The user; nil: the upstream's, or none.
    package var user: String?
    /// The password; nil: the upstream's, or none.
    package var password: String?

    package init(target: Target) { self.target = target }
}
