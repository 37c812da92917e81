internal import LightstreamerClient
internal import LightstreamerTesting
internal import Primitives
internal import Synchronization
internal import Testing

/// Time that passes only when the test says so, in the server and in the client.
@Suite(.timeLimit(.minutes(1))) struct ManualTimeTests {
    @Test func frequencyIsKeptInTheTimeOfTheServer() async throws {
        var options = TestServerOptions()
        options.hasManualClock = true
        let adapter = TestAdapter(fields: ["price"], maxFrequency: 1)
        try await withTestServer(adapter, options: options) { server in
            try await withLightstreamerClient(serverAddress: server.address) { client in
                try await server.update("item1", ["price": "0"])
                var updates = client.updates(items: ["item1"], fields: ["price"]).makeAsyncIterator()
                let snapshot = try await updates.next()
                #expect(snapshot?["price"] == "0")
                for price in 1...3 { try await server.update("item1", ["price": "\(price)"]) }
                await server.advance(by: .seconds(2))
                try await server.update("item1", ["price": "4"])
                await server.advance(by: .seconds(2))
                var prices: [String] = []
                while prices.last != "4" { prices.append(try await updates.next()?["price"] ?? "-") }
                #expect(prices == ["1", "3", "4"] || prices == ["3", "4"])
            }
        }
    }

    @Test func silentConnectionIsReplacedInTheTimeOfTheClient() async throws {
        let clock = ManualClock()
        try await withTestServer(TestAdapter(fields: ["price"])) { server in
            let configuration = ClientConfiguration(clock: clock)
            try await withLightstreamerClient(serverAddress: server.address, configuration: configuration) { client in
                var events = client.events(bufferedUpTo: 10_000).makeAsyncIterator()
                func reaches(_ wanted: ClientStatus) async throws {
                    while let event = try await events.next() {
                        if case .status(wanted) = event { return }
                    }
                }
                try client.connectionOptions.setForcedTransport(.wsStreaming)
                try client.connect()
                try await reaches(.connectedWSStreaming)
                let session = client.connectionDetails.sessionId
                await server.install(Fault(.halfOpen))
                await clock.timerIsSet(within: .seconds(7))
                clock.advance(by: .seconds(7))
                try await reaches(.stalled)
                await clock.timerIsSet(within: .seconds(3))
                clock.advance(by: .seconds(3))
                try await reaches(.disconnectedTryingRecovery)
                try await reaches(.connectedWSStreaming)
                #expect(client.connectionDetails.sessionId == session)
            }
        }
    }

    @Test func timersFireInTheOrderOfTheirTimes() async {
        let clock = ManualClock(random: 0.25)
        let fired = Mutex<[String]>([])
        func schedule(_ name: String, after delay: Duration) -> @Sendable () -> Void {
            clock.schedule(after: delay) { fired.withLock { $0.append("\(name) \(clock.now().nanoseconds)") } }
        }
        _ = schedule("late", after: .nanoseconds(30))
        _ = schedule("early", after: .nanoseconds(10))
        schedule("cancelled", after: .nanoseconds(5))()
        _ = schedule("first", after: .zero)
        await clock.timerIsSet(within: .nanoseconds(10))
        clock.advance(by: .nanoseconds(20))
        #expect(fired.withLock { $0 } == ["first 0", "early 10"])
        #expect(clock.remainingTimes == [.nanoseconds(10)])
        clock.advance(by: .nanoseconds(10))
        #expect(fired.withLock { $0.last } == "late 30")
        #expect(clock.random() == 0.25)
    }
}
