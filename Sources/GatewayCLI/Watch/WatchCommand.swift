internal import ArgumentParser
internal import LightstreamerClient

/// `watch`: subscribes and prints what comes, straight from a Lightstreamer server or from a gateway.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Subscribe and print updates, from a Lightstreamer server or from a gateway.",
        discussion: """
            From a server:   watch --server http://127.0.0.1:8090 --adapter-set DEMO --items item1 --fields last_price
            From a gateway:  watch --gateway http://127.0.0.1:8080 --upstream demo --items item1 --fields last_price

            What proves who you are comes from the environment, since everybody on a machine can read its command \
            lines: LIGHTSTREAMER_PASSWORD goes to a server, GATEWAY_TOKEN (an API key or a JWT) to a gateway.
            """
    )

    @Option(help: "A Lightstreamer server to connect to.")
    var server: String?

    @Option(help: "A gateway to read from.")
    var gateway: String?

    @Option(help: "The upstream to ask the gateway for.")
    var upstream = "demo"

    @Option(help: "The adapter set to ask the server for.")
    var adapterSet: String?

    @Option(help: "The user to authenticate as, towards the server.")
    var user: String?

    @Option(help: "MERGE, DISTINCT, COMMAND or RAW.")
    var mode = "MERGE"

    @Option(help: "Item names, parted by commas.")
    var items: String

    @Option(help: "Field names, parted by commas.")
    var fields: String

    @Option(help: "The Data Adapter; the server's DEFAULT if missing.")
    var dataAdapter: String?

    @Option(help: "Stop after this many updates.")
    var count: Int?

    func validate() throws {
        guard (server == nil) != (gateway == nil) else {
            throw ValidationError("name either a --server or a --gateway")
        }
        guard SubscriptionMode(rawValue: mode.uppercased()) != nil else {
            throw ValidationError("--mode \(mode): must be MERGE, DISTINCT, COMMAND or RAW")
        }
        if let count, count < 1 { throw ValidationError("--count: must be 1 or more") }
    }

    func run() async throws {
        if let server {
            try await ServerWatch(command: self, address: server).run()
        } else if let gateway {
            try await GatewayWatch(command: self, address: gateway).run()
        }
    }

    /// A comma-separated flag as a list.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map(String.init)
    }
}
