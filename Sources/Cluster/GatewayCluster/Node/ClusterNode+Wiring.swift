internal import Cryptography
internal import EngineNATS
package import EventHub
internal import FoundationEssentials
package import Gateway
package import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// The clustered form of the coordination of a gateway.
package enum Clustering {
    /// Makes the coordination of a gateway with this configuration; nil for a gateway that runs alone.
    @Sendable package static func coordination(
        _ configuration: GatewayConfiguration,
        _ logger: Logger
    ) -> ((EventHub) -> any Coordination)? {
        guard configuration.cluster.engine == .nats else { return nil }
        return { ClusterNode(configuration, hub: $0, logger: logger) }
    }

    /// Connects to the engine of a configuration once, and returns the risks of its version and settings, as sentences for
    /// operators; nil for a gateway that runs alone.
    package static func engineWarnings(_ configuration: GatewayConfiguration) async throws -> [String]? {
        guard configuration.cluster.engine == .nats else { return nil }
        var settings = NATSConfiguration(configuration.cluster.connection)
        // Gateways that use the log may have other limits until they are restarted.
        settings.changesLog = false
        let refusals = RankedMutex(Set<String>())
        let engine = NATSEngine(configuration: settings, process: .random(in: .min ... .max))
        let connection = try await engine.connect { input in
            if case .refused(let reason) = input { refusals.withLock { _ = $0.insert(reason) } }
        }
        defer { connection.close() }
        let warnings = await connection.warnings()
        return warnings + refusals.withLock { $0.sorted() }
    }
}

extension ClusterNode {
    /// The node of a configuration with an engine.
    convenience init(_ configuration: GatewayConfiguration, hub: EventHub, logger: Logger) {
        let info = MemberInfo(
            name: "\(ProcessInfo.processInfo.hostName):\(configuration.http.port)",
            version: GatewayVersion.text,
            upstreams: configuration.pool.upstreams.map(\.name)
        )
        let machine = MemberMachine(
            info: info,
            seed: .random(in: .min ... .max),
            groups: configuration.cluster.owners,
            configuration: configuration.clusterDigest,
            timings: configuration.cluster.timings(linger: configuration.pool.subscriptionLinger)
        )
        let engine = NATSEngine(
            configuration: NATSConfiguration(configuration.cluster.connection),
            process: machine.process
        )
        self.init(
            configuration: configuration.cluster,
            engine: engine,
            machine: machine,
            hub: hub,
            logger: logger,
            clock: Moment.monotonic
        )
    }

    func attach(_ pool: SessionPool) {
        pool.requireCredits()
        shared.withLock { $0.pool = pool }
    }

    func attach(_ host: HTTPHost) {
        shared.withLock { $0.host = host }
        host.services.access.owners.usage.observe { [weak self] in
            self?.made(.subscriptionUsed($0, identity: $1, items: $2))
        }
        host.services.access.owners.observeRemovals { [weak self] in self?.made(.resourceRemoved($0)) }
    }

    func reload(_ configuration: GatewayConfiguration) {
        let (digest, pool) = (configuration.clusterDigest, configuration.pool)
        let upstreams = pool.upstreams.map(\.name)
        state.withLock {
            $0.machine.configurationChanged(digest, upstreams: upstreams, linger: pool.subscriptionLinger)
        }
    }

    var figures: (any CoordinationFigures)? { clusterFigures }

    var uses: [String: CallerUse] {
        state.withLock { state in
            guard let quotas = state.machine.ledger?.quotas else { return [:] }
            return quotas.callers.reduce(into: [:]) { uses, identity in
                var use = CallerUse()
                use.streams = quotas.used(of: QuotaUnit.stream("", of: identity).quota).count
                (use.subscriptions, use.items) = quotas.used(of: QuotaUnit.subscription("", of: identity).quota)
                uses[identity] = use
            }
        }
    }

    var held: [String: Set<String>] { state.withLock { $0.machine.ledger?.quotas.heldSubscriptions ?? [:] } }

    var clusterFigures: ClusterFigures {
        let now = clock()
        let (member, number) = state.withLock { ($0.machine.figures(at: now), $0.link?.number ?? 0) }
        let (counters, failures) = shared.withLock { ($0.counters, $0.failures.reasons(since: number, at: now)) }
        return ClusterFigures(
            member: member,
            outboxBytes: reports.withLock { $0.outbox.count },
            counters: counters,
            credits: heldCredits,
            failures: failures
        )
    }
}

extension GatewayConfiguration {
    /// A number that is equal on members with the same upstreams and access rules.
    fileprivate var clusterDigest: UInt64 {
        var lines = pool.upstreams.map { upstream in
            let credentials = "\(upstream.user ?? "") \(upstream.password ?? "")"
            let address = "\(upstream.serverAddress) \(upstream.adapterSet ?? "")"
            let limits = "\(upstream.maxSessions) \(upstream.maxSubscriptions) \(upstream.maxItems)"
            return "upstream \(upstream.name) \(address) \(credentials) \(limits)"
        }
        lines += access.modes.map { "auth \($0.rawValue)" }
        lines += access.keys.map { "key \($0.name) \($0.hash.map { "\($0)" } ?? "") \($0.rights.line)" }
        lines.append("tokens \(access.webTokens.line)")
        // Keyed, because heartbeats carry it and passwords are among the lines.
        let key = Array((cluster.secret ?? "").utf8)
        let code = SHA256.code(of: Array(lines.sorted().joined(separator: "\n").utf8), key: key)
        return code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
