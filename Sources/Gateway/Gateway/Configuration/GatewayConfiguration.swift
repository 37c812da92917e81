package import EventHub
package import Logging
package import MicroHTTPD
package import SessionPool

/// The configuration of a gateway. `Settings` describes how flags, environment and file are mapped to it.
package struct GatewayConfiguration: Sendable {
    /// Where and how the gateway listens.
    package var http = DaemonConfiguration()
    /// Upstreams, lingers and quotas.
    package var pool = PoolConfiguration()
    /// How events are kept, conflated and sent to streams.
    package var hub = HubConfiguration()
    /// How many streams may be open at a time. Default 10,000.
    package var maxStreams = 10_000
    package var feeds: [FeedConfiguration] = []
    /// How responses with values may be cached.
    package var values = ValuesConfiguration()
    /// How many streams of one caller may be prepared and not open; nil, the default: a quarter.
    package var maxPreparedPerCaller: Int?
    package var preparedShare: Int { maxPreparedPerCaller ?? max(1, maxStreams / 4) }
    /// Whether streams are compressed. Default `auto`.
    package var compression = StreamCompressionChoice.auto
    /// Authentication, authorization and rate limits.
    package var access = AccessConfiguration()
    /// How long a thread or a client's task may take to come round before `/health/live` fails; 0: any time. Default 10 s.
    package var stallTimeout = Duration.seconds(10)
    /// When `/health/ready` answers 200.
    package var readiness = Readiness.serving
    package var log = LogConfiguration()
    package var cluster = ClusterConfiguration()
    /// The longest time that a stop may take; open requests and streams are cut off then. Default 10 s.
    package var shutdownGrace = Duration.seconds(10)

    /// A gateway on 127.0.0.1:8080 without upstreams.
    package init() {
        http.port = 8080
        http.shards = 0
        http.connectionLimitPerAddress = 1_000
    }
}

/// Whether streams are compressed.
package enum StreamCompressionChoice: String, Sendable, CaseIterable {
    /// Streams of one subscription, for clients that accept gzip.
    case auto
    case off
}

/// When `/health/ready` answers 200.
package enum Readiness: String, Sendable, CaseIterable {
    /// As soon as requests are served and until the stop begins.
    case serving
    /// Only while one of the pooled sessions is connected, or there are none.
    case connected
}

extension GatewayConfiguration {
    /// The configuration of the HTTP server. The groups of addresses whose connections are limited together are those of
    /// the configuration in force.
    func daemon(following current: LiveConfiguration) -> DaemonConfiguration {
        var daemon = http
        daemon.expectedDescriptors = pool.mostDescriptors
        daemon.responseBudget = responseBudget()
        daemon.addressGroup = { host in
            let access = current.version.configuration.access
            if TrustedProxies(networks: access.trustedProxies).contains(host) { return nil }
            if !access.limits.countsLoopback, ListeningAddress.isLoopback(host) { return nil }
            return IPNetwork.subscriber(of: host)
        }
        return daemon
    }

    /// Replaces the address of an upstream, if it is this one: the port of the demo server may be known only once it
    /// listens.
    package mutating func redirect(_ upstream: String, from address: String, to newAddress: String) {
        for index in pool.upstreams.indices
        where pool.upstreams[index].name == upstream && pool.upstreams[index].serverAddress == address {
            pool.upstreams[index].serverAddress = newAddress
        }
    }
}

extension PoolConfiguration {
    /// A session uses two connections at most: its stream, and one for control requests or for the next stream.
    private static let descriptorsPerSession = 2

    /// The most descriptors that the sessions of the pool use.
    fileprivate var mostDescriptors: Int {
        (upstreams.map(\.maxSessions).reduce(0, +) + maxDedicatedClients) * Self.descriptorsPerSession
    }
}

package struct LogConfiguration: Sendable, Equatable {
    package enum Format: String, Sendable, CaseIterable {
        /// Text for people.
        case text
        /// One JSON object a line.
        case json
    }

    /// The least severe level that is logged. Default `info`.
    package var level = Logger.Level.info
    package var format = Format.text
    /// Whether each request is logged, at level `info`. Default false: they are logged at level `debug`.
    package var logsRequests = false
}

extension GatewayConfiguration {
    /// This configuration with the values of an older one for the settings that take effect at the next start.
    func keepingRestartSettings(of older: GatewayConfiguration) -> GatewayConfiguration {
        var kept = self
        kept.http = older.http
        // TLS cannot be switched on or off.
        if older.http.certificate != nil, let certificate = http.certificate { kept.http.certificate = certificate }
        kept.hub = older.hub
        kept.log = older.log
        kept.cluster = older.cluster
        return kept
    }

    /// The keys of the settings that differ from an older configuration and take effect at the next start.
    func restartKeys(changedFrom older: GatewayConfiguration) -> [String] {
        var keys = Settings.all.filter { $0.effect == .restart && $0.compared(self) != $0.compared(older) }.map(\.key)
        // A certificate can be replaced while the gateway runs.
        if (http.certificate == nil) != (older.http.certificate == nil) { keys.append("http.tls.certificate") }
        return keys
    }
}
