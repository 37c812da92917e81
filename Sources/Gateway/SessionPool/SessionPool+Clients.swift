package import Changes
package import LightstreamerClient
package import SessionCore
internal import Synchronization

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

extension SessionPool {
    /// All clients, oldest first.
    package func clients() -> [PooledClient] { state.withLock { Array($0.clients.values) } }

    package func client(_ id: ClientID) -> PooledClient? { state.withLock { $0.clients[id] } }

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
            configuration: configuration(of: id, for: upstream)
        )
        core.connectionDetails.setUser(specification.user ?? upstream?.user)
        core.connectionDetails.setPassword(specification.password ?? upstream?.password)
        try upstream?.apply(to: core)
        try prepare(core)
        let client = PooledClient(id: id, upstream: upstream, isDedicated: true, core: core, pool: self)
        let limit = configuration.maxDedicatedClients
        try state.withLock { state throws(PoolError) in
            if state.isStopping { throw .stopping }
            if state.clients.values.count(where: { $0.isDedicated }) >= limit {
                throw .overQuota(.dedicatedClients(limit: limit))
            }
            state.clients[id] = client
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
            guard let upstream = upstream(name) else { throw .unknownUpstream(name) }
            return (upstream, upstream.serverAddress)
        case .address(let address): return (nil, address)
        }
    }

    /// The configuration of a client. Whatever address a request sets and whatever control link the server names, the
    /// client connects only to allowed addresses and to that of its upstream.
    func configuration(
        of id: ClientID,
        for upstream: UpstreamConfiguration?,
        isShared: Bool = false,
        isTransferable: Bool = false
    ) -> ClientConfiguration {
        let pool = self.configuration
        var configuration = clientConfiguration
        // An event is published by the thread that has received it: to wake another one would take longer than all else.
        configuration.eventLoops = thread(for: upstream)
        configuration.taskExecutor = configuration.eventLoops.taskExecutor()
        if isTransferable {
            configuration.handover = SessionHandover { [sink] in sink.ownsSessions }
        }
        // A request that ends the session would end all its subscriptions, and be sent again in the next one.
        configuration.refusesOversizedRequests = true
        configuration.outlivesMalformedRequests = isShared
        // The messages of all clients have a limit, and each caller a share of it. One caller could use up a limit of the
        // messages of a shared session.
        (configuration.maxPendingMessages, configuration.maxPendingMessageBytes) = (.max, .max)
        // A server that sends lines without an end would take memory for each client of the upstream.
        let values = values(of: upstream?.name ?? "")
        configuration.lineBudget = { values.add($0) }
        configuration.edition = pool.edition
        configuration.logger[metadataKey: "client"] = "\(id)"
        configuration.allowedAddresses = pool.allowedAddresses
        if let upstream {
            var allowed = pool.allowedAddresses.adding(upstream.serverAddress)
            allowed.entries += upstream.controlLinks.entries
            configuration.allowedAddresses = allowed
            upstream.apply(to: &configuration)
        }
        return configuration
    }

    /// The thread of a new client. The clients of an upstream share a part of the threads, so that an upstream whose data
    /// takes much work does not delay the others.
    private func thread(for upstream: UpstreamConfiguration?) -> EventLoops {
        let upstreams = upstreams
        let part = upstreams.firstIndex { $0.name == upstream?.name } ?? upstreams.count
        let parts = upstreams.count + (configuration.allowedAddresses.entries.isEmpty ? 0 : 1)
        let turn = settings.withLock { settings in
            settings.threadTurns[part, default: -1] += 1
            return settings.threadTurns[part, default: 0]
        }
        return clientConfiguration.eventLoops.one(ofPart: part, among: parts, turn: turn)
    }

    package var threadCount: Int { clientConfiguration.eventLoops.count }

    /// Calls the body on each of these threads, with the index of the thread, once the thread comes round.
    package func onEachThread(_ body: @escaping @Sendable (Int) -> Void) { clientConfiguration.eventLoops.onEach(body) }

    /// Updates of a client can arrive again, or no longer, or the server has refused the session of a dedicated client.
    func deliveryChanged(of client: PooledClient) {
        notifyWatchers(of: client)
        finishMoves(to: client)
        renewIfOutdated(client)
    }

    /// Reports the client to the sink and starts to observe it.
    func start(_ client: PooledClient) {
        sink.take(.client(client.id, .added(client.core.status)))
        if client.isRemovalReported.load(ordering: .acquiring) { sink.take(.client(client.id, .removed)) }
        client.isReported.store(true, ordering: .releasing)
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
            state.clients[client.id] = nil
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
        if !client.watchers.isEmpty { client.watchers.notify(client.situation) }
        retired.continuation.yield(client)
        logger.debug("client closed", metadata: ["client": "\(client.id)"])
    }
}

extension UpstreamConfiguration {
    var headerNames: Set<String> { Set((options.httpExtraHeaders ?? [:]).keys.map { $0.lowercased() }) }
}

/// The credits of a pool that shares the limits of its upstreams with other processes.
extension SessionPool {
    /// The pool has no credits from now on, and needs them for what it opens.
    package func requireCredits() { state.withLock { $0.machine.requireCredits() } }

    package func limits(of upstream: String) -> UpstreamCredits {
        guard let upstream = self.upstream(upstream) else { return .none }
        return UpstreamCredits(
            sessions: upstream.maxSessions,
            subscriptions: upstream.maxSubscriptions,
            items: upstream.maxItems
        )
    }

    package var creditedUpstreams: [String] { state.withLock { $0.machine.credits?.names ?? [] } }

    package func credits(of upstream: String) -> UpstreamCredits {
        state.withLock { $0.machine.credits?.held(of: upstream) ?? .none }
    }

    /// Throws `creditsNeeded`, without effects, if credits are missing for an upstream subscription of this key.
    package func checkCredits(for key: SharedKey) throws(PoolError) {
        try state.withLock { state throws(PoolError) in try state.machine.check(present(key)) }
    }

    /// Changes the credits of an upstream under the lock of the pool; `change` gets what is in use.
    @discardableResult
    package func changeCredits<Result: Sendable>(
        of upstream: String,
        _ change: (inout PoolCredits, _ used: UpstreamCredits) -> Result
    ) -> Result? {
        state.withLock { $0.machine.changeCredits(of: upstream, change) }
    }
}
