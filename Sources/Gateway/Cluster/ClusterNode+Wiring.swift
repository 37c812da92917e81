internal import Crypto
internal import EventHub
internal import Foundation
internal import Logging
internal import NATSLink
internal import Replication
internal import SessionCore
internal import SessionPool
internal import StreamIO

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
            configuration: Self.digest(of: configuration.pool.upstreams),
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

    /// A number that is equal on members whose upstreams are.
    private static func digest(of upstreams: [UpstreamConfiguration]) -> UInt64 {
        let lines = upstreams.map { "\($0.name) \($0.serverAddress) \($0.adapterSet ?? "") \($0.user ?? "")" }
        let digest = SHA256.hash(data: Array(lines.sorted().joined(separator: "\n").utf8))
        return digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// Shared subscriptions of streams.
extension Services {
    /// Joins the shared subscription of these properties, in the pool or in the cluster.
    func join(
        upstream: String,
        _ properties: SubscriptionProperties
    ) throws(PoolError) -> (id: String, subscription: JoinedSubscription) {
        let session = try sessionKey(upstream: upstream)
        if let cluster {
            let key = SharedTopicKey(upstream: upstream, properties: properties)
            let id = cluster.hold(key)
            return (id, .clustered(id, key))
        }
        let resource = try pool.joinImplicit(SharedKey(session: session, properties: properties))
        return (resource.id.rawValue, .local(resource))
    }

    /// Leaves a shared subscription.
    func leave(_ subscription: JoinedSubscription) {
        switch subscription {
        case .local(let resource): pool.leaveImplicit(resource)
        case .clustered(let id, _): cluster?.release(id)
        }
    }
}
