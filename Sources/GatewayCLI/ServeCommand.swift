internal import ArgumentParser
internal import Gateway
internal import GatewayCluster
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// `serve`: runs a gateway with the configured upstreams.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the gateway with configured upstreams.",
        discussion: """
            Once connections are accepted, the first line on standard output is "gateway: http://ADDRESS:PORT". Logs \
            go to standard error. SIGTERM and SIGINT stop the gateway after open requests. SIGHUP reloads the \
            configuration; check --keys lists the settings that take effect then.
            """
    )

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let hangups = await ReloadService.trappedSignals()
        let configuration = try options.configuration()
        let logger = LogOptions.start(configuration.log)
        for warning in options.warnings(about: configuration) { logger.warning("\(warning)") }
        let gateway = Gateway(configuration: configuration, logger: logger, coordination: Clustering.coordination)
        let hasStarted = StopSignal()
        let service = GatewayService(gateway: gateway) { port in
            StandardOutput.write("gateway: \(ProcessServices.url(of: configuration, port: port))\n")
            hasStarted.set()
        }
        let options = options
        let reloading = ReloadService(gateway: gateway, start: hasStarted, hangups: hangups, logger: logger) {
            try options.read()
        }
        try await ProcessServices.run([reloading, service], grace: configuration.shutdownGrace, logger: logger)
    }
}

/// Reads the configuration again at every SIGHUP. A configuration with mistakes changes nothing.
struct ReloadService: Service {
    let gateway: Gateway
    /// Set once the gateway accepts connections; there are no reloads before.
    let start: StopSignal
    let hangups: UnixSignalsSequence
    let logger: Logger
    let configuration: @Sendable () throws -> GatewayConfiguration

    /// The signals for reloads, from now on. A command calls this before it reads the configuration, so that a signal
    /// during the start neither ends the process nor is lost.
    static func trappedSignals() async -> UnixSignalsSequence { await UnixSignalsSequence(trapping: .sighup) }

    func run() async throws {
        await start.wait()
        for await _ in hangups.cancelOnGracefulShutdown() { await reload() }
    }

    private func reload() async {
        do {
            let newer = try configuration()
            let wasOpen = gateway.configuration.access.isOpen
            let waiting = try await gateway.reload(newer)
            logger.notice("configuration reloaded")
            if !wasOpen, newer.access.modes.isEmpty {
                logger.warning("callers need no credentials any more: no auth.keys and no auth.jwt are configured")
            }
            if let warning = newer.upstreamWarning { logger.warning("\(warning)") }
            for warning in newer.warnings() { logger.warning("\(warning)") }
            for key in waiting {
                logger.warning("the change takes effect at the next start", metadata: ["key": "\(key)"])
            }
        } catch let error as ConfigurationError {
            gateway.current.keep()
            for mistake in error.mistakes {
                logger.error("mistake in the configuration", metadata: ["mistake": "\(mistake)"])
            }
            logger.error("configuration not reloaded; the old one stays in force")
        } catch {
            gateway.current.keep()
            logger.error("configuration not reloaded; the old one stays in force", metadata: ["reason": "\(error)"])
        }
    }
}
