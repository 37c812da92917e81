internal import ArgumentParser
internal import DemoServer
internal import Logging
internal import Recording
internal import ServiceLifecycle

/// `demo-server`: the embedded Lightstreamer server alone, for other clients.
struct DemoServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-server",
        abstract: "Run the embedded demo server alone.",
        discussion: """
            The first line on standard output is "demo-server: http://ADDRESS:PORT". The adapter set is DEMO, with these \
            Data Adapters:

              QUOTE_ADAPTER, DEFAULT  MERGE: item1 … item30
              PORTFOLIO_ADAPTER       COMMAND: portfolio1, whose keys are items of the quotes
              CHAT_ROOM               DISTINCT: chat_room, with the messages CHAT|TEXT of clients
              RAW_FEED                RAW: raw1, raw2 and raw3
              JSON_FEED               MERGE: document1 and document2, with changes as diffs

            --replay plays a file of the command record instead of its Data Adapters, to every client at the same time. \
            The replay starts with the first subscription to one of its items: its first snapshot has happened before, \
            as has everything up to --from. The exit status is 65 for a file that is not a recording or is damaged.

            With --faults clients can script faults: POST /demo/faults installs the script in its body, DELETE \
            /demo/faults removes the faults that have not occurred yet, GET /demo/census returns the numbers of \
            sessions, subscriptions and connections, and a message FAULT|SCRIPT installs a script as well. POST \
            /v1/updates publishes an update now: {"item": "item1", "fields": {"last_price": "99.50"}}, with "adapter" \
            for another Data Adapter than DEFAULT, and "event" for clear-snapshot or lost-updates (with "count").

            \(FaultScript.manual)
            """
    )

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0: a free one.")
    var port = 8090

    @Option(help: "The seed of everything in the data that looks random.")
    var seed: UInt64?

    @Option(help: "A recording to play.", completion: .file())
    var replay: String?

    @Option(help: "How many seconds of the recording pass in a second, 0.01 … 1000 (default 1).")
    var speed: Double?

    @Flag(help: "Play the recording again and again.")
    var loop = false

    @Option(help: "The time of the recording to start from, in seconds.")
    var from: Double?

    @Flag(help: "Let clients script faults and publish updates; described above.")
    var faults = false

    @OptionGroup var logging: LogOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port: must be 0 … 65535") }
        if replay == nil, speed != nil || loop || from != nil {
            throw ValidationError("--speed, --loop and --from need a --replay")
        }
        if replay != nil, seed != nil { throw ValidationError("--seed is for the data that a --replay replaces") }
        if let speed, !(0.01...1_000).contains(speed) { throw ValidationError("--speed: must be 0.01 … 1000") }
        if let from, !(0...1e9).contains(from) { throw ValidationError("--from: must be 0 or more seconds") }
    }

    func run() async throws {
        let logger = LogOptions.start(try logging.configuration())
        var configuration = DemoServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.acceptsFaultsFromClients = faults
        configuration.mobilePush = .devicesOnly
        if let seed { configuration.seed = seed }
        if let replay { try play(replay, &configuration, logger) }
        let server = DemoServer(configuration, logger: Logger(label: "demo-server"))
        let announcement = AnnouncedDemoService(server: server, configuration: configuration)
        try await ProcessServices.run([announcement], logger: logger)
    }

    private func play(_ path: String, _ configuration: inout DemoServerConfiguration, _ logger: Logger) throws {
        do {
            let source = try RecordingReplay.prepare(path, &configuration) { warning in
                logger.warning("\(path): \(warning)")
            } failed: { error in
                logger.error("the replay ends: \(path): \(error)")
            }
            configuration.replay = ReplayConfiguration(
                source: source,
                speed: speed ?? 1,
                start: .seconds(from ?? 0),
                loops: loop
            )
        } catch {
            throw (error is RecordingError ? ExitCode.dataError : .noInput).because("\(path): \(error)")
        }
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
