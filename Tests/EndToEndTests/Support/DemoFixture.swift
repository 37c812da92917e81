internal import DemoServer
internal import Gateway
internal import Logging
internal import SessionPool

/// A demo server and a gateway over it, both in this process, on ports that the system chose.
enum DemoFixture {
    /// The environment of a test.
    struct Running: Sendable {
        let gateway: Gateway
        let server: DemoServer
        /// The URL of the gateway, without a slash at the end.
        let url: String
        /// The URL of the demo server.
        let serverURL: String
        /// The demo server's port.
        let serverPort: Int
    }

    /// Runs both, calls the body, stops both and waits for them.
    static func run(
        server serverConfiguration: DemoServerConfiguration = DemoServerConfiguration(),
        configure: @Sendable (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @Sendable (Running) async throws -> Void
    ) async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = DemoServer(serverConfiguration, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let serverPort = try await server.boundPort
            try await withGateway(over: serverPort, logger: quiet, configure: configure) { gateway, url in
                try await body(
                    Running(
                        gateway: gateway,
                        server: server,
                        url: url,
                        serverURL: "http://127.0.0.1:\(serverPort)",
                        serverPort: serverPort
                    )
                )
            }
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
    }

    /// Runs a gateway whose upstream `demo` is on a port of this machine.
    static func withGateway(
        over serverPort: Int,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        configure: @Sendable (inout GatewayConfiguration) -> Void = { _ in },
        _ body: @Sendable (Gateway, String) async throws -> Void
    ) async throws {
        var configuration = GatewayConfiguration()
        configuration.http.port = 0
        var upstream = UpstreamConfiguration(
            name: "demo",
            serverAddress: "http://127.0.0.1:\(serverPort)",
            adapterSet: "DEMO"
        )
        upstream.options.retryDelay = 0.2
        configuration.pool.upstreams = [upstream]
        configure(&configuration)
        let gateway = Gateway(configuration: configuration, logger: logger)
        let (ports, source) = AsyncStream.makeStream(of: UInt16.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { source.finish() }
                try await gateway.run { source.yield($0) }
            }
            for await port in ports {
                do {
                    try await body(gateway, "http://127.0.0.1:\(port)")
                } catch {
                    gateway.beginShutdown()
                    while let result = await group.nextResult() { _ = result }
                    throw error
                }
                break
            }
            gateway.beginShutdown()
            try await group.waitForAll()
        }
    }
}
