internal import ArgumentParser
internal import DemoServer
internal import Gateway
internal import GatewayCluster
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `demo`: a gateway and an embedded Lightstreamer server with seeded data, ready for the first `curl`.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run the gateway together with an embedded demo server.",
        discussion: """
            The gateway listens on 127.0.0.1:8080, the demo server on 127.0.0.1:8090; --port 0 and --demo-port 0 \
            choose free ports. The first lines on standard output are the addresses: "gateway: http://…", "demo-server: http://…". \
            The name of the upstream is demo. Settings of the caller go over those of the demo, and SIGHUP reloads them.
            """
    )

    @OptionGroup var options: GatewayOptions
    @OptionGroup var demo: DemoServerOptions

    func run() async throws {
        let hangups = await ReloadService.trappedSignals()
        let demoConfiguration = demo.configuration()
        let host = demoConfiguration.host
        let defaults = Self.defaults(host: host, port: demoConfiguration.port)
        var configuration = try options.configuration(defaults: defaults)
        let logger = LogOptions.start(configuration.log)
        for warning in options.warnings(about: configuration, defaults: defaults) { logger.warning("\(warning)") }
        let server = DemoServer(demoConfiguration, logger: Logger(label: "demo-server"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await demoConfiguration.listening { try await server.run() } }
            guard let port = try? await server.boundPort else {
                // The task of a server that cannot listen throws the reason.
                try await group.waitForAll()
                return
            }
            configuration.redirect(
                "demo",
                from: Self.address(host: host, port: demoConfiguration.port),
                to: Self.address(host: host, port: port)
            )
            let services = services(configuration, demo: (host, port), hangups: hangups, logger: logger)
            let grace = configuration.shutdownGrace
            group.addTask { try await ProcessServices.run(services, grace: grace, logger: logger) }
            // The first task that ends stops the other one: the services end after a signal, the server ends when it
            // fails.
            try await group.next()
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    /// The settings of `demo`, below those of the caller.
    static func defaults(host: String, port: Int) -> [(key: String, value: String)] {
        [
            ("upstreams.demo.serverAddress", address(host: host, port: port)),
            ("upstreams.demo.adapterSet", "DEMO"),
            // The data of the demo server are public.
            ("cors.origins", "*"),
        ] + DemoFeeds.settings
    }

    /// The address of the demo server; with another port, as long as the port is not known.
    private static func address(host: String, port: Int) -> String {
        ProcessServices.url(host: host, port: port == 0 ? 1 : port)
    }

    private func services(
        _ configuration: GatewayConfiguration,
        demo: (host: String, port: Int),
        hangups: UnixSignalsSequence,
        logger: Logger
    ) -> [any Service] {
        let gateway = Gateway(configuration: configuration, logger: logger, coordination: Clustering.coordination)
        let hasStarted = StopSignal()
        let service = GatewayService(gateway: gateway) { port in
            StandardOutput.write(
                "gateway: \(ProcessServices.url(of: configuration, port: port))\n"
                    + "demo-server: \(ProcessServices.url(host: demo.host, port: demo.port))\n"
            )
            hasStarted.set()
        }
        let options = options
        let reloading = ReloadService(gateway: gateway, start: hasStarted, hangups: hangups, logger: logger) {
            try options.read(defaults: Self.defaults(host: demo.host, port: demo.port))
        }
        return [reloading, service]
    }
}

/// The flags of the embedded demo server.
struct DemoServerOptions: ParsableArguments {
    @Option(help: "The address that the demo server listens on.")
    var demoHost = "127.0.0.1"

    @Option(help: "The port that the demo server listens on; 0: a free one.")
    var demoPort = 8090

    @Option(help: "The seed of everything in the demo data that looks random.")
    var seed: UInt64?

    func configuration() -> DemoServerConfiguration {
        var configuration = DemoServerConfiguration()
        configuration.host = demoHost
        configuration.port = demoPort
        if let seed { configuration.seed = seed }
        // The dashboard has buttons that cut, stall and restart the demo server by such messages.
        configuration.acceptsFaultsFromClients = true
        configuration.mobilePush = .devicesOnly
        return configuration
    }

    func validate() throws {
        guard (0...65_535).contains(demoPort) else { throw ValidationError("--demo-port: must be 0 … 65535") }
    }
}
