package import EventHub
package import Logging
package import MicroHTTPD
package import SessionPool
internal import Synchronization

/// Everything that a gateway is told at its start. `Settings` maps flags, environment and file to it.
package struct GatewayConfiguration: Sendable {
    /// Where and how the gateway listens.
    package var http = DaemonConfiguration()
    /// Upstreams, lingers and quotas.
    package var pool = PoolConfiguration()
    /// How events are kept, conflated and told to streams.
    package var hub = HubConfiguration()
    /// How many streams may be open at a time. Default 10,000.
    package var maxStreams = 10_000
    /// Who may come in.
    package var access = AccessConfiguration()
    /// When `/health/ready` says yes.
    package var readiness = Readiness.serving
    /// What goes to the log.
    package var log = LogConfiguration()
    /// How long a stop may take before what is left is cut off. Default 10 s.
    package var shutdownGrace = Duration.seconds(10)

    /// A gateway on 127.0.0.1:8080 without upstreams.
    package init() {
        http.port = 8080
    }
}

/// When `/health/ready` says yes.
package enum Readiness: String, Sendable, CaseIterable {
    /// As soon as requests are served and until the stop begins.
    case serving
    /// Only while every upstream that has a pooled session is connected.
    case connected
}

extension GatewayConfiguration {
    /// Points an upstream at another port of this machine: the demo server's port may be known only once it listens.
    package mutating func redirect(_ upstream: String, toPort port: Int) {
        pool.upstream(upstream) { $0.serverAddress = "http://127.0.0.1:\(port)" }
    }
}

/// How much is logged, and in which shape.
package struct LogConfiguration: Sendable, Equatable {
    /// The shapes of a log line.
    package enum Format: String, Sendable, CaseIterable {
        /// For people.
        case text
        /// One JSON object a line.
        case json
    }

    /// The least level that is logged. Default `info`.
    package var level = Logger.Level.info
    /// The shape. Default `text`.
    package var format = Format.text

    /// The defaults.
    package init() {}
}

extension GatewayConfiguration {
    /// This configuration, but with what holds until the next start as an older one has it.
    func keeping(_ older: GatewayConfiguration) -> GatewayConfiguration {
        var kept = self
        kept.http = older.http
        kept.http.certificate = http.certificate
        kept.hub = older.hub
        kept.log = older.log
        return kept
    }

    /// What differs from an older configuration and takes effect with the next start only, as keys or parts of keys.
    func partsForNextStart(after older: GatewayConfiguration) -> [String] {
        var parts: [String] = []
        if http.host != older.http.host { parts.append("http.host") }
        if http.port != older.http.port { parts.append("http.port") }
        if (http.certificate == nil) != (older.http.certificate == nil) { parts.append("http.tls") }
        if settled(http) != settled(older.http) { parts.append("http") }
        if "\(hub)" != "\(older.hub)" { parts.append("streams") }
        if log != older.log { parts.append("log") }
        return parts
    }

    /// The figures of the front end as text, without what is compared by itself and without secrets.
    private func settled(_ http: DaemonConfiguration) -> String {
        var http = http
        http.certificate = nil
        (http.host, http.port) = ("", 0)
        return "\(http)"
    }
}

/// The configuration that holds at present: the one of the start, until another is loaded.
package final class LiveConfiguration: Sendable {
    private let present: Mutex<GatewayConfiguration>

    /// The configuration of the start.
    package init(_ configuration: GatewayConfiguration) { present = Mutex(configuration) }

    /// What holds now.
    package var value: GatewayConfiguration { present.withLock { $0 } }

    /// Another configuration holds from now on.
    package func replace(by configuration: GatewayConfiguration) { present.withLock { $0 = configuration } }
}
