internal import ArgumentParser
internal import LightstreamerClient

/// `watch`: subscribes and shows updates, from a Lightstreamer server or from a gateway.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Subscribe and show updates, from a Lightstreamer server or from a gateway.",
        discussion: """
            From a server:   watch --server http://127.0.0.1:8090 --adapter-set DEMO --items item1 --fields last_price
            From a gateway:  watch --gateway http://127.0.0.1:8080 --upstream demo --items item1 --fields last_price

            In a terminal the values are shown as a table, updated in place; q ends it. In a pipe each update is one line.

            Credentials come from the environment, because other users of a machine can read command lines: \
            LIGHTSTREAMER_PASSWORD is sent to a server, GATEWAY_TOKEN (an API key or a JWT) to a gateway.
            """
    )

    @Option(help: "A Lightstreamer server to connect to.")
    var server: String?

    @Option(help: "A gateway to read from.")
    var gateway: String?

    @Option(help: "The upstream of the gateway.")
    var upstream = "demo"

    @Option(help: "The adapter set of the server.")
    var adapterSet: String?

    @Option(help: "The user to authenticate as, with a server.")
    var user: String?

    @Option(help: "MERGE, DISTINCT, COMMAND or RAW.")
    var mode = "MERGE"

    @Option(help: "Item names, separated by commas.")
    var items: String

    @Option(help: "Field names, separated by commas.")
    var fields: String

    @Option(help: "The Data Adapter; the server's DEFAULT if missing.")
    var dataAdapter: String?

    @Option(help: "Stop after this many updates.")
    var count: Int?

    @Flag(help: "Print each event as one line of JSON.")
    var json = false

    @Flag(help: "End with exit status 1 if the server or gateway cannot be reached, instead of trying again.")
    var once = false

    /// The mode; valid after `validate`.
    var subscriptionMode: SubscriptionMode { SubscriptionMode(rawValue: mode.uppercased()) ?? .merge }

    func validate() throws {
        guard (server == nil) != (gateway == nil) else {
            throw ValidationError("name either a --server or a --gateway")
        }
        guard SubscriptionMode(rawValue: mode.uppercased()) != nil else {
            throw ValidationError("--mode \(mode): must be MERGE, DISTINCT, COMMAND or RAW")
        }
        if let count, count < 1 { throw ValidationError("--count: must be 1 or more") }
        if json && subscriptionMode == .command && fields.isEmpty {
            throw ValidationError("--fields: must not be empty")
        }
    }

    func run() async throws {
        let display: any WatchDisplay =
            if json {
                JSONDisplay()
            } else if let terminal = TerminalDisplay(mode: subscriptionMode, fields: Self.list(fields)) {
                terminal
            } else {
                LineDisplay()
            }
        let output = WatchOutput(display: display, limit: count)
        let failure = await withTaskGroup(of: WatchFailure?.self) { group in
            group.addTask { await display.run() }
            group.addTask {
                do {
                    try await watch(output)
                    return nil
                } catch {
                    return error as? WatchFailure ?? WatchFailure("\(error)")
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        display.close()
        if let failure {
            StandardError.write(failure.sentence + "\n")
            throw ExitCode.failure
        }
    }

    private func watch(_ output: WatchOutput) async throws {
        if let server {
            try await ServerWatch(command: self, address: server, output: output).run()
        } else if let gateway {
            try await GatewayWatch(command: self, address: gateway, output: output).run()
        }
    }

    /// The elements of a comma-separated option.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map(String.init)
    }
}
