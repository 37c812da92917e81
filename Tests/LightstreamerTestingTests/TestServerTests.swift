internal import LightstreamerClient
internal import LightstreamerTesting
internal import Testing

/// The test server as an application's tests use it.
@Suite(.timeLimit(.minutes(1))) struct TestServerTests {
    private static let quotes = TestAdapter(items: ["item1", "item2"], fields: ["price", "time"])

    private func run(
        _ adapter: TestAdapter = quotes,
        options: TestServerOptions = TestServerOptions(),
        _ body: (TestServer, LightstreamerClient) async throws -> Void
    ) async throws {
        try await withTestServer(adapter, options: options) { server in
            try await withLightstreamerClient(serverAddress: server.address, adapterSet: server.adapterSet) { client in
                try await body(server, client)
            }
        }
    }

    @Test func fieldsWithoutANewValueKeepTheirs() async throws {
        try await run { server, client in
            try await server.update("item1", ["price": "1", "time": "10:00"])
            var updates = client.updates(items: ["item1"], fields: ["price", "time"]).makeAsyncIterator()
            let snapshot = try await updates.next()
            #expect(snapshot?["price"] == "1" && snapshot?["time"] == "10:00")
            try await server.update("item1", ["price": "2"])
            let update = try await updates.next()
            #expect(update?["price"] == "2" && update?["time"] == "10:00")
            try await server.update("item1", ["time": nil])
            let last = try await updates.next()
            #expect(last?["price"] == "2" && last?["time"] == nil)
        }
    }

    @Test func rowsOfACommandItemAreAddedChangedAndDeleted() async throws {
        let adapter = TestAdapter("PORTFOLIO", mode: .command, fields: ["key", "command", "qty"])
        try await run(adapter) { server, client in
            try await server.update("p", ["key": "a", "command": "ADD", "qty": "1"], in: "PORTFOLIO")
            let fields = ["key", "command", "qty"]
            var updates = client.updates(mode: .command, items: ["p"], fields: fields, dataAdapter: "PORTFOLIO")
                .makeAsyncIterator()
            let added = try await updates.next()
            #expect(added?.key == "a" && added?["qty"] == "1")
            try await server.update("p", ["key": "a", "command": "UPDATE", "qty": "2"], in: "PORTFOLIO")
            let changed = try await updates.next()
            #expect(changed?["command"] == "UPDATE" && changed?["qty"] == "2")
            try await server.update("p", ["key": "a", "command": "DELETE"], in: "PORTFOLIO")
            let deleted = try await updates.next()
            #expect(deleted?["command"] == "DELETE" && deleted?["qty"] == nil)
        }
    }

    @Test func snapshotEndsWhenTheTestSaysSo() async throws {
        let adapter = TestAdapter(mode: .distinct, fields: ["text"], holdsSnapshots: true)
        try await run(adapter) { server, client in
            let news = try Subscription(mode: .distinct, items: ["news"], fields: ["text"])
            try client.subscribe(news)
            var events = news.events().makeAsyncIterator()
            try await client.connected()
            try await news.activated()
            try await server.update("news", ["text": "one"])
            try await server.endSnapshot(of: "news")
            try await server.clearSnapshot(of: "news")
            var words: [String] = []
            while words.count < 3, let event = try await events.next() {
                switch event {
                case .update(let update): words.append("\(update.values[0] ?? "-") \(update.isSnapshot)")
                case .endOfSnapshot: words.append("end")
                case .clearSnapshot: words.append("clear")
                default: break
                }
            }
            #expect(words == ["one true", "end", "clear"])
        }
    }

    @Test func lossesAreReported() async throws {
        try await run(TestAdapter(mode: .raw, fields: ["text"])) { server, client in
            let events = try Subscription(mode: .raw, items: ["e"], fields: ["text"])
            try client.subscribe(events)
            var sequence = events.events().makeAsyncIterator()
            try await events.activated()
            try await server.loseUpdates(3, of: "e")
            while let event = try await sequence.next() {
                if case .lostUpdates(let count, _) = event {
                    #expect(count == 3)
                    break
                }
            }
        }
    }

    @Test func wrongNamesAreThrown() async throws {
        try await withTestServer(Self.quotes, TestAdapter("P", mode: .command, fields: ["key", "command"])) { server in
            func code(_ call: () async throws -> Void) async -> TestServerError.Code? {
                await #expect(throws: TestServerError.self) { try await call() }?.code
            }
            #expect(await code { try await server.update("item1", [:], in: "NOPE") } == .unknownAdapter)
            #expect(await code { try await server.update("item3", [:]) } == .unknownItem)
            #expect(await code { try await server.clearSnapshot(of: "item3") } == .unknownItem)
            #expect(await code { try await server.update("item1", ["bid": "1"]) } == .unknownField)
            #expect(await code { try await server.update("p", ["key": "a"], in: "P") } == .missingKey)
        }
        let error = await #expect(throws: TestServerError.self) {
            try await TestServer.start(TestAdapter(mode: .command, fields: ["key"]))
        }
        #expect(error?.code == .invalidAdapter)
    }

    @Test func subscriptionIsRefusedByAFault() async throws {
        try await run { server, client in
            await server.install(Fault(.refuse(code: -7, message: "not for you"), at: .request(.add)))
            let refusal = await #expect(throws: SubscriptionRefused.self) {
                for try await _ in client.updates(items: ["item1"], fields: ["price"]) {}
            }
            #expect(refusal == SubscriptionRefused(code: -7, message: "not for you"))
        }
    }

    @Test func messagesAreRecordedAndAnsweredAsScripted() async throws {
        try await run { server, client in
            await server.respond(to: "buy 3", with: .failed(code: -5, message: "no funds"))
            await server.respond(to: "sell 3", with: .processed(response: "FAIL|1|is only text"))
            let bought = try await client.send("buy 3", in: "orders")
            #expect(bought == .denied(code: -5, message: "no funds"))
            let sold = try await client.send("sell 3", in: "orders")
            #expect(sold == .processed(response: "FAIL|1|is only text"))
            let other = try await client.send("hold")
            #expect(other == .processed(response: "hold"))
            #expect(await server.messages == ["buy 3", "sell 3", "hold"])
        }
    }

    @Test func cutConnectionIsRecoveredWithoutLoss() async throws {
        try await run { server, client in
            try await server.update("item1", ["price": "0"])
            var updates = client.updates(items: ["item1"], fields: ["price"]).makeAsyncIterator()
            _ = try await updates.next()
            let session = client.connectionDetails.sessionId
            await server.install(Fault(.drop))
            for price in 1...3 { try await server.update("item1", ["price": "\(price)"]) }
            var last: String?
            while last != "3" { last = try await updates.next()?["price"] }
            #expect(client.connectionDetails.sessionId == session)
        }
    }

    @Test func countsAreWaitedFor() async throws {
        try await run { server, client in
            let quotes = client.updates(items: ["item1"], fields: ["price"])
            let reader = Task { for try await _ in quotes {} }
            try await server.waits { $0.subscriptions == 1 }
            reader.cancel()
            try await server.waits { $0.subscriptions == 0 }
            _ = await reader.result
            let waiting = Task { try await server.waits { $0.sessions == 2 } }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            let counts = await server.counts
            #expect(counts.sessions == 1 && counts.messages == 0)
        }
    }

    @Test func stoppedServerEndsWaitsAndConnections() async throws {
        let server = try await TestServer.start(Self.quotes)
        try await withLightstreamerClient(serverAddress: server.address) { client in
            try await client.connected()
            let events = client.events()
            let waiting = Task { try await server.waits { $0.sessions == 2 } }
            await server.stop()
            await server.stop()
            let error = await #expect(throws: TestServerError.self) { try await waiting.value }
            #expect(error?.code == .stopped)
            for try await event in events {
                if case .status(let status) = event, !status.isConnected { break }
            }
            #expect(await server.counts.connections == 0)
        }
    }
}
