internal import Crypto
internal import EngineNATS
internal import EventHub
internal import Foundation
internal import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

extension ClusterNode {
    /// The node of a configuration; nil for a gateway that runs alone.
    convenience init?(_ configuration: GatewayConfiguration, hub: EventHub, logger: Logger) {
        guard configuration.cluster.engine == .nats else { return nil }
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
        let engine = NATSEngine(configuration: configuration.cluster.nats, process: machine.process)
        self.init(
            configuration: configuration.cluster,
            engine: engine,
            machine: machine,
            hub: hub,
            logger: logger,
            clock: Moment.monotonic
        )
    }

    /// Applies a reloaded configuration.
    func reload(_ configuration: GatewayConfiguration) {
        let digest = configuration.clusterDigest
        state.withLock { $0.machine.configurationChanged(digest) }
    }

    var figures: (any CoordinationFigures)? { clusterFigures }

    /// The present figures.
    var clusterFigures: ClusterFigures {
        let now = clock()
        return ClusterFigures(
            member: state.withLock { $0.machine.figures(at: now) },
            outboxBytes: outbox.withLock { $0.count },
            counters: counters.withLock { $0 },
            credits: heldCredits
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
        let key = SymmetricKey(data: Array((cluster.secret ?? "").utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(lines.sorted().joined(separator: "\n").utf8), using: key)
        return code.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension WebTokenConfiguration {
    /// The settings that decide which tokens are valid, as a line of text that is the same in every process.
    var line: String {
        let sources = [secret, publicKey, keySet, keySetURL, issuer, audience]
        return "\(sources.map { $0 ?? "" }.joined(separator: " ")) \(rights.line)"
    }
}

extension Rights {
    /// The rights as a line of text that is the same in every process, and different for different rights.
    var line: String {
        let words = operations.map(\.rawValue).sorted().joined(separator: ",")
        let patterns = [upstreams, items].map { list in
            list.map { PercentDecoding.encode($0.description) }.joined(separator: ",")
        }
        let limits = [streams, maxSubscriptions, maxItems].map { $0.map(String.init) ?? "-" }
        return ([words] + patterns + limits + ["\(rate ?? 0)"]).joined(separator: " ")
    }
}
