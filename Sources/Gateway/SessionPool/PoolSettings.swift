internal import Changes
package import LightstreamerClient
internal import Primitives
package import SessionCore
internal import Synchronization

/// The configuration in force of a pool, and what belongs to its upstreams: their values, and the threads of their clients.
package final class PoolSettings: Sendable {
    private struct State {
        var configuration: PoolConfiguration
        /// The values of each upstream; of clients by address under the empty name.
        var values: [String: UpstreamValues] = [:]
        /// The number of clients that were given a thread, for each part of the threads.
        var threadTurns: [Int: Int] = [:]
    }

    private let state: RankedMutex<State>
    /// What the clients of all upstreams have in common.
    private let clients: ClientConfiguration

    init(_ configuration: PoolConfiguration, clients: ClientConfiguration) {
        state = RankedMutex(State(configuration: configuration), rank: .poolSettings)
        self.clients = clients
    }

    package var configuration: PoolConfiguration { state.withLock { $0.configuration } }

    func replace(with configuration: PoolConfiguration) {
        state.withLock { state in
            state.configuration = configuration
            for (name, values) in state.values { values.setLimit(configuration.mostValueBytes(of: name)) }
        }
    }

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
        try state.withLock { state throws(Failure) in
            var limit = state.configuration.sessionLimit
            try change(&limit)
            state.configuration.sessionLimit = limit
            limit.apply()
        }
    }

    /// The key with the credentials that its upstream has now: a subscription may be older than these.
    func present(_ key: SessionKey) -> SessionKey {
        guard let upstream = upstream(key.upstream) else { return key }
        return SessionKey(upstream: key.upstream, user: upstream.user, password: upstream.password, group: key.group)
    }

    package func limits(of name: String) -> UpstreamCredits {
        guard let own = upstream(name) else { return .none }
        return UpstreamCredits(sessions: own.maxSessions, subscriptions: own.maxSubscriptions, items: own.maxItems)
    }

    // MARK: - Values

    func values(of upstream: String) -> UpstreamValues {
        state.withLock { state in
            if let present = state.values[upstream] { return present }
            let made = UpstreamValues(limit: state.configuration.mostValueBytes(of: upstream))
            state.values[upstream] = made
            return made
        }
    }

    /// The values of all upstreams by name; those of clients by address have an empty name.
    package var upstreamValues: [(name: String, values: UpstreamValues)] {
        state.withLock { $0.values.map { ($0.key, $0.value) } }.sorted { $0.0 < $1.0 }
    }

    // MARK: - Clients

    /// The configuration of a new client. Whatever address a request sets and whatever control link the server names, the
    /// client connects only to allowed addresses and to that of its upstream.
    func clientConfiguration(
        of id: ClientID,
        for upstream: UpstreamConfiguration?,
        isShared: Bool = false,
        handover: SessionHandover? = nil
    ) -> ClientConfiguration {
        let pool = self.configuration
        var configuration = clients
        // An event is published by the thread that has received it: to wake another one would take longer than all else.
        configuration.eventLoops = thread(for: upstream)
        configuration.taskExecutor = configuration.eventLoops.taskExecutor()
        configuration.handover = handover
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
        let turn = state.withLock { state in
            state.threadTurns[part, default: -1] += 1
            return state.threadTurns[part, default: 0]
        }
        return eventLoops.one(ofPart: part, among: parts, turn: turn)
    }

    /// The threads of the clients.
    package var eventLoops: EventLoops { clients.eventLoops }
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

extension UpstreamRefusal {
    /// The code of a subscription that the gateway ended because the values of its upstream exceed their budget. The codes
    /// of a server are below 100, those of its Metadata Adapter at most 0.
    package static let valuesCode = 1000
    /// The code of a shared subscription of a cluster that the gateway could not open; the message is a sentence with the reason.
    package static let unopenedCode = 1001
}
