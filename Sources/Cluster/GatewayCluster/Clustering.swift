internal import Cryptography
internal import EngineNATS
package import EventHub
internal import FoundationEssentials
package import Gateway
package import Logging
internal import MicroHTTPD
internal import Primitives
internal import Replication

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
        let connection: any EngineConnection
        do {
            connection = try await engine.connect { input in
                if case .refused(let reason) = input { refusals.withLock { _ = $0.insert(reason) } }
            }
        } catch EngineError.timeout {
            throw timeout(beside: refusals.withLock { $0.sorted() })
        }
        defer { connection.close() }
        let warnings = await connection.warnings()
        return warnings + refusals.withLock { $0.sorted() }
    }

    /// The error of a request without a reply. A user without permissions for subjects gets none: the engine has refused these.
    static func timeout(beside refusals: [String]) -> EngineError {
        refusals.isEmpty ? .timeout : .refused(refusals.joined(separator: "; "))
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
        let settings = NATSConfiguration(configuration.cluster.connection)
        self.init(
            configuration: configuration.cluster,
            engine: NATSEngine(configuration: settings, process: machine.process),
            machine: machine,
            hub: hub,
            logger: logger,
            clock: Moment.monotonic
        )
    }
}

extension GatewayConfiguration {
    /// A number that is equal on members with the same upstreams and access rules.
    var clusterDigest: UInt64 {
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

extension ClusterConfiguration {
    /// How long a request waits for a member without heartbeats to be replaced.
    var replacementTime: Duration { suspect + Self.takeoverTime }

    /// How long other members may take to take over what a removed member had.
    private static let takeoverTime = Duration.seconds(2)

    /// The timings of a member; subscriptions linger for the same time as in a gateway without a cluster.
    func timings(linger: Duration) -> ClusterTimings {
        var timings = ClusterTimings()
        timings.suspect = suspect
        timings.reporting = suspect
        timings.linger = linger
        timings.window = connection.window
        return timings
    }
}

extension NATSConfiguration {
    init(_ configuration: EngineConfiguration) {
        self.init(servers: configuration.servers, name: configuration.name)
        (user, password) = (configuration.user, configuration.password)
        credentialsFile = configuration.credentialsFile
        authoritiesFile = configuration.authoritiesFile
        certificateFile = configuration.certificateFile
        keyFile = configuration.keyFile
        (window, windowBytes, copies) = (configuration.window, configuration.windowBytes, configuration.copies)
        // The state of the cluster, which a joining member receives, has the values of all shared subscriptions.
        replyBytes = MachineMemory.available / 2
    }
}
