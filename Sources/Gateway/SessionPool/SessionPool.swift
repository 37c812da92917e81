package import Changes
package import LightstreamerClient
package import Logging
internal import OrderedCollections
package import Primitives
internal import SessionCore
internal import Synchronization

/// Shares few upstream sessions among many consumers: owns the clients and the subscriptions that they carry.
///
/// Calls take effect at once and never wait for the network. `run()` closes sessions and subscriptions without users.
package final class SessionPool: Sendable {
    struct State: ~Copyable {
        var machine: PoolMachine
        /// Oldest first.
        var clients: OrderedDictionary<ClientID, PooledClient> = [:]
        var nextClient = ClientID(RandomID.make(prefix: "c"))
        var shared: [SharedID: SharedSubscription] = [:]
        var resources = ResourceTable()
        var refused = RefusedSessions()
        /// The resources whose sessions were closed, and that no other session could take.
        var unserved: [SubscriptionResource] = []
        var isStopping = false
        /// When the next look for idle subscriptions is due.
        var nextExpiry = Moment.zero
        /// Whether the sink is looking for the streams of what is idle.
        var awaitsReads = false
    }

    /// The configuration in force, and what belongs to its upstreams.
    struct Settings {
        var configuration: PoolConfiguration
        /// The values of each upstream; of clients by address under the empty name.
        var values: [String: UpstreamValues] = [:]
        /// The number of clients that were given a thread, for each part of the threads.
        var threadTurns: [Int: Int] = [:]
    }

    /// How often the pool checks what lingers.
    private static let tick = Duration.milliseconds(250)
    /// How often the pool looks for subscriptions that were not used for their time; there may be many.
    private static let expiryInterval = Duration.seconds(1)

    let sink: any PoolSink
    let removed: @Sendable (TopicID) -> Void
    let logger: Logger
    let clientConfiguration: ClientConfiguration
    let clock: @Sendable () -> Moment
    let state: RankedMutex<State>
    let settings: RankedMutex<Settings>
    package let upstreamMetrics = UpstreamMetrics()
    let observeConnection: ConnectionObserver?
    /// The ids of the subscriptions that callers use, by their accounts.
    let held: @Sendable () -> [String: Set<String>]
    let retired = AsyncStream.makeStream(of: PooledClient.self)

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
        settings = RankedMutex(Settings(configuration: configuration), rank: .poolSettings)
        self.sink = sink
        self.removed = removed
        self.clientConfiguration = clientConfiguration
        self.logger = logger
        self.clock = clock
        state = RankedMutex(State(machine: PoolMachine(configuration: configuration)), rank: .sessionPool)
    }

    package var configuration: PoolConfiguration { settings.withLock { $0.configuration } }

    func values(of upstream: String) -> UpstreamValues {
        settings.withLock { settings in
            if let present = settings.values[upstream] { return present }
            let made = UpstreamValues(limit: settings.configuration.mostValueBytes(of: upstream))
            settings.values[upstream] = made
            return made
        }
    }

    /// The values of all upstreams by name; those of clients by address have an empty name.
    package var upstreamValues: [(name: String, values: UpstreamValues)] {
        settings.withLock { $0.values.map { ($0.key, $0.value) } }.sorted { $0.0 < $1.0 }
    }

    /// Replaces upstreams, quotas and lingers. A session is outdated if the upstream is gone, or has changed in more than the
    /// quotas: the session closes after the last subscription, and further subscriptions go to a new session, as long as
    /// there may be one. The subscriptions of an outdated session that does not deliver move to a new session, unless the
    /// upstream is gone.
    package func reload(_ configuration: PoolConfiguration) {
        // Under one lock, so that an acquisition uses the upstreams that the machine's quotas belong to.
        state.withLock { state in
            settings.withLock { settings in
                settings.configuration = configuration
                for (name, values) in settings.values { values.setLimit(configuration.mostValueBytes(of: name)) }
            }
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
            return (Array(state.clients.values), Array(state.shared.values))
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
        client.isRemovalReported.store(true, ordering: .releasing)
        sink.take(.client(client.id, .removed))
        removed(.client(client.id))
    }

    /// Closes what has lingered or idled long enough.
    func timePassed() {
        let now = clock()
        let (actions, unread, refused, isExpiryDue) = state.withLock { state in
            let isExpiryDue = state.nextExpiry <= now
            if isExpiryDue { state.nextExpiry = now + Self.expiryInterval }
            let actions = state.machine.timePassed(at: now)
            let unread = state.resources.withdrawLingering(at: now)
            return (actions, unread, state.refused.take(), isExpiryDue)
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
}

// MARK: - Upstreams

extension SessionPool {
    package var upstreams: [UpstreamConfiguration] { configuration.upstreams }

    package func upstream(_ name: String) -> UpstreamConfiguration? {
        for upstream in configuration.upstreams where upstream.name == name { return upstream }
        return nil
    }

    /// The key of the pooled sessions of an upstream with its configured credentials. Throws `unknownUpstream`.
    package func sessionKey(upstream name: String, group: UInt64? = nil) throws(PoolError) -> SessionKey {
        guard let upstream = upstream(name) else { throw .unknownUpstream(name) }
        return SessionKey(upstream: upstream.name, user: upstream.user, password: upstream.password, group: group)
    }

    /// Changes the session limit of all clients of this process, until the configuration is reloaded. If the change
    /// throws, the limit stays as it is.
    package func changeSessionLimit<Failure: Error>(
        _ change: (inout SessionLimit) throws(Failure) -> Void
    ) throws(Failure) {
        try settings.withLock { settings throws(Failure) in
            var limit = settings.configuration.sessionLimit
            try change(&limit)
            settings.configuration.sessionLimit = limit
            limit.apply()
        }
    }

    /// The open pooled sessions of an upstream, their subscriptions, lingering ones included, and the items of these.
    package func figures(of upstream: String) -> UpstreamCredits { state.withLock { $0.machine.figures(of: upstream) } }
}

// MARK: - Values

extension SessionPool {
    /// The subscription that ends because a grown subscription exceeds the budget of the upstream: the largest subscription
    /// of the caller with the most values, or the grown subscription if only that caller, or nobody, uses the subscription. The
    /// values of a subscription count for its callers in equal parts. Callers without an account count as one caller.
    func subscriptionToEnd(for grown: SharedSubscription) -> SharedSubscription {
        var users: [String: Set<String>] = [:]
        for (account, ids) in held() { for id in ids { users[id, default: []].insert(account) } }
        var carriers: [ObjectIdentifier: (subscription: SharedSubscription, callers: Set<String>)] = [:]
        for resource in state.withLock({ Array($0.resources.byID.values) }) {
            guard let carrier = resource.carrier, carrier.client.values === grown.client.values else { continue }
            let callers = users[resource.id.rawValue] ?? [""]
            carriers[ObjectIdentifier(carrier), default: (carrier, [])].callers.formUnion(callers)
        }
        var sums: [String: Int] = [:]
        var largest: [String: (part: Int, subscription: SharedSubscription)] = [:]
        for (subscription, callers) in carriers.values {
            let part = subscription.countedBytes / callers.count
            for caller in callers {
                sums[caller, default: 0] += part
                if part > largest[caller]?.part ?? -1 { largest[caller] = (part, subscription) }
            }
        }
        let most = sums.max { $0.value < $1.value }
        let callers = carriers[ObjectIdentifier(grown)]?.callers ?? []
        if callers.count < 2, callers.allSatisfy({ sums[$0] == most?.value }) { return grown }
        return most.flatMap { largest[$0.key]?.subscription } ?? grown
    }
}

extension UpstreamRefusal {
    /// The code of a subscription that the gateway ended because the values of its upstream exceed their budget. The codes
    /// of a server are below 100, those of its Metadata Adapter at most 0.
    package static let valuesCode = 1000
}

/// The values that the subscriptions of an upstream keep, compared with a budget.
package final class UpstreamValues: Sendable {
    private let bytes = Atomic<Int>(0)
    private let most: Atomic<Int>

    /// No values. A limit of 0 is none.
    init(limit: Int) { most = Atomic(limit > 0 ? limit : .max) }

    /// The approximate size of all values in bytes.
    package var used: Int { bytes.load(ordering: .relaxed) }
    /// The budget in bytes; `Int.max` without one.
    package var limit: Int { most.load(ordering: .relaxed) }

    /// Replaces the budget. A limit of 0 is none.
    func setLimit(_ limit: Int) { most.store(limit > 0 ? limit : .max, ordering: .relaxed) }

    /// The values of a subscription have grown, or shrunk; false if they have grown beyond the budget.
    func add(_ count: Int) -> Bool {
        let total = bytes.wrappingAdd(count, ordering: .relaxed).newValue
        if count <= 0 { return true }
        return total <= most.load(ordering: .relaxed)
    }

    /// The refusal of a subscription whose values exceed the budget.
    var refusal: UpstreamRefusal {
        UpstreamRefusal(
            code: UpstreamRefusal.valuesCode,
            message: "The values of the upstream exceed the \(limit) bytes of maxValues"
        )
    }
}
