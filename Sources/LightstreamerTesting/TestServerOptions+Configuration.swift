internal import DemoServer
internal import LightstreamerClient

extension TestServerOptions {
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
