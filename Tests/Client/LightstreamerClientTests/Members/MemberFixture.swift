internal import DemoServer
internal import LightstreamerClient
internal import Logging

/// A demo server with manual feeds on a port of its own, and one client of it, with a log of all events of its
/// delegates.
struct MemberFixture: Sendable {
    let server: DemoServer
    let address: String
    let client: LightstreamerClient
    let log: MemberLog

    /// Runs both, calls the body, ends both.
    static func run(
        server change: (inout DemoServerConfiguration) -> Void = { _ in },
        client configure: (inout ClientConfiguration) -> Void = { _ in },
        _ body: (MemberFixture) async throws -> Void
    ) async throws {
        var serverConfiguration = stillServer
        change(&serverConfiguration)
        var clientConfiguration = ClientConfiguration()
        configure(&clientConfiguration)
        let server = DemoServer(serverConfiguration, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            let address = "http://127.0.0.1:\(try await server.boundPort)"
            let client = try LightstreamerClient(
                serverAddress: address,
                adapterSet: "DEMO",
                configuration: clientConfiguration
            )
            let fixture = MemberFixture(server: server, address: address, client: client, log: MemberLog())
            client.addDelegate(fixture.log)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(fixture))
            } catch {
                result = .failure(error)
            }
            await client.shutdown()
            group.cancelAll()
            while await group.nextResult() != nil {}
            try result.get()
        }
    }

    /// Runs both, connects, calls the body, ends both.
    static func runConnected(
        server change: (inout DemoServerConfiguration) -> Void = { _ in },
        client configure: (inout ClientConfiguration) -> Void = { _ in },
        _ body: (MemberFixture) async throws -> Void
    ) async throws {
        try await run(server: change, client: configure) { fixture in
            try await fixture.connect()
            try await body(fixture)
        }
    }

    /// Connects, and waits for a status.
    func connect(until status: ClientStatus = .connectedWSStreaming) async throws {
        try client.connect()
        await log.until("status \(status.rawValue)")
    }

    /// Subscribes with the log as a delegate, and waits until the server has accepted.
    func subscribe(_ subscription: Subscription, to adapter: String) async throws {
        try subscription.setDataAdapter(adapter)
        subscription.addDelegate(log)
        try client.subscribe(subscription)
        await log.until("subscribed")
    }

    /// A subscription to a quote that the server has accepted.
    func quote() async throws -> Subscription {
        let subscription = try Subscription(mode: .merge, item: "item1", fields: ["name", "price"])
        try await subscribe(subscription, to: "QUOTES")
        return subscription
    }

    func publish(_ item: String, _ values: String?..., to adapter: String) async {
        await server.publish(.publish(item: item, values: values), to: adapter)
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static var stillServer: DemoServerConfiguration {
        var configuration = DemoServerConfiguration()
        configuration.feeds.isMoving = false
        configuration.serverName = "Bench"
        configuration.timings.keepaliveBounds = .milliseconds(50)...Duration.seconds(30)
        configuration.manualFeeds = [
            "QUOTES": ManualFeedConfiguration(items: ["item1", "item2"], fields: ["name", "price"]),
            "PORTFOLIO": ManualFeedConfiguration(
                items: ["portfolio1"],
                fields: ["key", "command", "qty"],
                mode: .command
            ),
            "NEWS": ManualFeedConfiguration(items: ["news"], fields: ["headline"], mode: .distinct),
            "EVENTS": ManualFeedConfiguration(items: ["events"], fields: ["text"], mode: .raw),
            "DOCUMENTS": ManualFeedConfiguration(items: ["document"], fields: ["text", "size"], diffs: .jsonPatch),
        ]
        return configuration
    }
}
