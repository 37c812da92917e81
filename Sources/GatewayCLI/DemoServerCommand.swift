internal import ArgumentParser
internal import DemoServer
internal import Logging
internal import ServiceLifecycle

/// `demo-server`: the embedded Lightstreamer server alone, for other clients.
struct DemoServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-server",
        abstract: "Run the embedded demo server alone.",
        discussion: """
            The first line on standard output is "demo-server: http://ADDRESS:PORT".

            With --faults clients can script faults: POST /demo/faults installs the script in its body, DELETE \
            /demo/faults removes the faults that have not occurred yet, GET /demo/census returns the numbers of \
            sessions, subscriptions and connections, and a message FAULT|SCRIPT installs a script as well.

            \(FaultScript.manual)
            """
    )

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0: a free one.")
    var port = 8090

    @Option(help: "The seed of everything in the data that looks random.")
    var seed: UInt64?

    @Flag(help: "Let clients script faults; the language is described above.")
    var faults = false

    @OptionGroup var logging: LogOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port: must be 0 … 65535") }
    }

    func run() async throws {
        let logger = LogOptions.start(try logging.configuration())
        var configuration = DemoServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.acceptsFaultsFromClients = faults
        configuration.mobilePush = .devicesOnly
        if let seed { configuration.seed = seed }
        let server = DemoServer(configuration, logger: Logger(label: "demo-server"))
        let announcement = AnnouncedDemoService(server: server, configuration: configuration)
        try await ProcessServices.run([announcement], logger: logger)
    }
}

/// The demo server, which prints its address on standard output.
private struct AnnouncedDemoService: Service {
    let server: DemoServer
    let configuration: DemoServerConfiguration

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await configuration.listening { try await server.run() } }
                if let port = try? await server.boundPort {
                    StandardOutput.write("demo-server: \(ProcessServices.url(host: configuration.host, port: port))\n")
                }
                try await group.waitForAll()
            }
        }
    }
}
