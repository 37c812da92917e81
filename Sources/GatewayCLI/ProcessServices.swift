internal import DemoServer
internal import Gateway
internal import Logging
internal import ServiceLifecycle

/// A gateway as a service of the process. It stops gracefully when the group shuts down.
struct GatewayService: Service {
    let gateway: Gateway
    /// Called once, with the port, when connections are accepted.
    let listening: @Sendable (UInt16) async -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await gateway.run(listening: listening)
        } onGracefulShutdown: {
            gateway.beginShutdown()
        }
    }
}

/// Runs services until one of them ends or the process receives a signal. They start in order and
/// stop in reverse order.
enum ProcessServices {
    /// Runs services until one of them ends or the process receives a signal, and until all of them have stopped.
    ///
    /// - Parameter grace: The longest time that a service gives its requests to end.
    static func run(_ services: [any Service], grace: Duration = .seconds(10), logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .cancelGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = longestStop(grace)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// The time after which services that still stop are cancelled: the grace time, and some for upstreams and the cluster.
    static func longestStop(_ grace: Duration) -> Duration { grace + .seconds(50) }

    static func url(of configuration: GatewayConfiguration, port: some BinaryInteger) -> String {
        let http = configuration.http
        return url(host: http.host, port: port, isSecure: http.certificate != nil)
    }

    /// A URL that reaches an address and port of this machine.
    static func url(host: String, port: some BinaryInteger, isSecure: Bool = false) -> String {
        let reachable =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::", "[::]": "[::1]"
            default: host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            }
        return "\(isSecure ? "https" : "http")://\(reachable):\(port)"
    }
}

extension DemoServerConfiguration {
    /// Runs a server with this configuration; an address that it cannot listen on is named in the error.
    func listening(_ run: () async throws -> Void) async throws {
        do {
            try await run()
        } catch DemoServerError.cannotListen(let reason) {
            throw ListeningError(service: "the demo server", host: host, port: port, reason: reason)
        }
    }
}
