public import DemoServer
public import Logging

/// The properties of a test server that do not change while the server runs.
public struct TestServerOptions: Sendable {
    /// The name of the Adapter Set; a session with another one is refused with code 2. Clients that name none use `DEFAULT`.
    public var adapterSet = "DEFAULT"
    /// The users and their passwords; a session of another user is refused with code 1. Nil admits everybody.
    public var users: [String: String]?
    /// The pause after which a silent connection carries a keepalive, for clients that ask for no other.
    public var keepalive = Duration.seconds(5)
    /// How long a session whose connection broke can be recovered.
    public var recoveryTimeout = Duration.seconds(13)
    /// Whether the time of the server passes only by `TestServer.advance(by:)`.
    public var hasManualClock = false
    /// The seed of everything random, such as the places where faults cut.
    public var seed: UInt64 = 2_147_483_647
    /// The faults from the start.
    public var faults: [Fault] = []
    /// The log of connections and messages, at `debug` and `trace`. Default: none.
    public var logger = Logger(label: "lightstreamer.testing") { _ in SwiftLogNoOpLogHandler() }

    /// The defaults.
    public init() {}

    /// The configuration of the demo server, whose own data stand still.
    func configuration(with adapters: [TestAdapter]) throws(TestServerError) -> DemoServerConfiguration {
        var configuration = DemoServerConfiguration()
        configuration.seed = seed
        configuration.adapterSets = [adapterSet]
        configuration.users = users
        configuration.serverName = "Lightstreamer test server"
        configuration.timings.keepalive = keepalive
        configuration.timings.keepaliveBounds = .milliseconds(50)...Duration.seconds(30)
        configuration.timings.recoveryTimeout = recoveryTimeout
        configuration.feeds.isMoving = false
        configuration.hasManualClock = hasManualClock
        configuration.keptMessages = 10_000
        configuration.faults = faults
        for adapter in adapters {
            let isComplete = adapter.mode != .command || Set(adapter.fields).isSuperset(of: ["key", "command"])
            guard isComplete, !adapter.fields.isEmpty, configuration.manualFeeds[adapter.name] == nil else {
                throw TestServerError(.invalidAdapter, adapter.name)
            }
            configuration.manualFeeds[adapter.name] = ManualFeedConfiguration(
                items: adapter.items,
                fields: adapter.fields,
                mode: adapter.mode,
                maxFrequency: adapter.maxFrequency,
                holdsSnapshot: adapter.holdsSnapshots
            )
        }
        return configuration
    }
}
