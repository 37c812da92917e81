package import EventHub
package import MicroHTTPD
package import SessionPool

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
