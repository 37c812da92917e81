internal import Gateway
internal import Logging
internal import ServiceLifecycle

/// A gateway as one service of the process: stops gently on the group's graceful shutdown.
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

/// Runs services until one of them ends or a signal comes. They start in order and stop in the opposite order.
enum ProcessServices {
    static func run(_ services: [any Service], logger: Logger) async throws {
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
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        try await ServiceGroup(configuration: configuration).run()
    }

    /// How an address and port are written in a URL that reaches them.
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
