internal import LightstreamerClient
internal import LightstreamerTesting
internal import TLCPTransports
internal import Testing

/// Calls that wait for a session, a subscription, a snapshot or the outcome of a message, over loopback sockets.
@Suite struct WaitingCallTests {
    @Test func connectedReturnsWithASession() async throws {
        try await withServer { client, _ in
            try await client.connected()
            #expect(client.status.isConnected)
            #expect(client.connectionDetails.sessionId != nil)
        }
    }

    /// One thread runs the call and the client's task, which handles `disconnect()` only once the call waits.
    @Test func connectedDoesNotCountTheSessionThatTheApplicationHasEnded() async throws {
        let executor = EventLoops.shared.taskExecutor()
        let fixture = try ClientFixture { $0.taskExecutor = executor }
        _ = try await fixture.connected()
        let (client, connector) = (fixture.client, fixture.connector)
        let session = Task(executorPreference: executor) {
            client.disconnect()
            try await client.connected()
            return client.connectionDetails.sessionId
        }
        let server = Task {
            guard let next = await connector.next() else { return }
            next.open("WSOK", "CONOK,S2,50000,5000,*")
        }
        #expect(try await session.value == "S2")
        await client.shutdown()
        await server.value
    }

    /// A client whose attempt to connect is refused by lines that it handles only once the call waits: one thread runs both.
    /// The next attempt has these lines.
    private func afterARefusal<Value: Sendable>(
        _ lines: String...,
        call: @escaping @Sendable (LightstreamerClient) async throws -> Value
    ) async throws -> Value {
        let executor = EventLoops.shared.taskExecutor()
        let fixture = try ClientFixture { $0.taskExecutor = executor }
        let (client, connector) = (fixture.client, fixture.connector)
        try client.connect()
        let refused = try #require(await connector.next())
        refused.open()
        let waiting = Task(executorPreference: executor) {
            refused.say("WSOK", "CONERR,2,no such adapter set")
            return try await call(client)
        }
        let server = Task {
            guard let next = await connector.next() else { return }
            next.open()
            for line in lines { next.say(line) }
        }
        let value = try await waiting.value
        await client.shutdown()
        await server.value
        return value
    }

    @Test(.timeLimit(.minutes(1))) func connectedTriesAgainAfterARefusalBeforeTheCall() async throws {
        let session = try await afterARefusal("WSOK", "CONOK,S2,50000,5000,*") { client in
            try await client.connected()
            return client.connectionDetails.sessionId
        }
        #expect(session == "S2")
    }

    @Test(.timeLimit(.minutes(1))) func loopTriesAgainAfterARefusalBeforeItsStart() async throws {
        let value = try await afterARefusal("WSOK", "CONOK,S2,50000,5000,*", "SUBOK,1,1,1", "U,1,1,v") { client in
            var updates = client.updates(items: ["a"], fields: ["x"]).makeAsyncIterator()
            return try await updates.next()?["x"]
        }
        #expect(value == "v")
    }

    @Test(.timeLimit(.minutes(1))) func waitingCallsThrowWhereTheAddressIsGoneAfterARefusal() async throws {
        let connected = await #expect(throws: ClientError.self) {
            try await afterARefusal { client in
                try client.connectionDetails.setServerAddress(nil)
                try await client.connected()
            }
        }
        #expect(connected?.code == .noServerAddress)
        let loop = await #expect(throws: ClientError.self) {
            try await afterARefusal { client in
                try client.connectionDetails.setServerAddress(nil)
                for try await _ in client.updates(items: ["a"], fields: ["x"]) {}
            }
        }
        #expect(loop?.code == .noServerAddress)
    }

    @Test func connectedThrowsTheRefusal() async throws {
        var options = TestServerOptions()
        options.users = ["u": "secret"]
        try await withServer(options) { client, _ in
            client.connectionDetails.setUser("u")
            client.connectionDetails.setPassword("wrong")
            let refusal = await #expect(throws: SessionRefused.self) { try await client.connected() }
            #expect(refusal?.code == 1)
        }
    }

    @Test func waitingCallEndsWithTheConnection() async throws {
        try await withServer { client, server in
            await server.install(Fault(.ignore, at: .request(.add)))
            let subscription = try manualSubscription(item: "a")
            try client.subscribe(subscription)
            let waiting = Task { try await subscription.activated() }
            try await client.connected()
            client.disconnect()
            let error = await #expect(throws: ClientError.self) { try await waiting.value }
            #expect(error?.code == .lifecycle)
        }
    }

    /// One thread runs the calls, up to their waits, and then `shutdown()`.
    @Test(.timeLimit(.minutes(1))) func waitingCallsEndWithTheClient() async throws {
        let executor = EventLoops.shared.taskExecutor()
        let (fixture, _) = try await ClientFixture.connecting { $0.taskExecutor = executor }
        let client = fixture.client
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["x"])
        try client.subscribe(subscription)
        let connecting = Task(executorPreference: executor) { try await client.connected() }
        let activating = Task(executorPreference: executor) { try await subscription.activated() }
        await Task(executorPreference: executor) { await client.shutdown() }.value
        for waiting in [connecting, activating] {
            let error = await #expect(throws: ClientError.self) { try await waiting.value }
            #expect(error?.code == .shutDown)
        }
    }

    @Test func activatedReturnsOnceSubscribed() async throws {
        try await withServer { client, _ in
            let subscription = try manualSubscription(item: "a")
            await #expect(throws: ClientError.self) { try await subscription.activated() }
            try client.subscribe(subscription)
            try await subscription.activated()
            #expect(subscription.isSubscribed && subscription.itemCount == 1)
        }
    }

    @Test func snapshotHasARowForEachItemOrKey() async throws {
        try await withServer { client, _ in
            let quotes = try Subscription(mode: .merge, items: ["item2", "item1"], fields: ["stock_name"])
            try quotes.setDataAdapter("QUOTE_ADAPTER")
            let portfolio = try Subscription(mode: .command, item: "portfolio1", fields: ["key", "command", "qty"])
            try portfolio.setDataAdapter("PORTFOLIO_ADAPTER")
            try client.subscribe(quotes)
            try client.subscribe(portfolio)
            let names = try await quotes.snapshot().map(\.itemName)
            #expect(names == ["item2", "item1"])
            let rows = try await portfolio.snapshot()
            #expect(!rows.isEmpty && Set(rows.map(\.key)).count == rows.count)
        }
    }

    @Test func snapshotOfARawSubscriptionIsRefused() async throws {
        let subscription = try Subscription(mode: .raw, items: ["a"], fields: ["x"])
        let error = await #expect(throws: ClientError.self) { try await subscription.snapshot() }
        #expect(error?.property == "requestedSnapshot")
    }

    @Test func sendReturnsTheOutcome() async throws {
        try await withServer { client, _ in
            let outcome = try await client.send("CHAT|hello", in: "chat")
            #expect(outcome == .processed(response: ""))
        }
    }

    @Test func messageThatTheServerHasAlreadyIsAborted() async throws {
        try await withServer { client, server in
            await server.install(Fault(.refuse(code: 32, message: ""), at: .request(.message)))
            let outcome = try await client.send("CHAT|hello", in: "chat")
            #expect(outcome == .aborted(sentOnNetwork: true))
        }
    }

    @Test func cancelledCallNoLongerWaits() async throws {
        try await withServer { client, server in
            await server.install(Fault(.ignore, at: .request(.message)))
            try await client.connected()
            let sending = Task { try await client.send("CHAT|hello", in: "chat") }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    @Test func clientIsShutDownAfterItsFunction() async throws {
        var outer: LightstreamerClient?
        try await withServer { client, _ in
            try await client.connected()
            outer = client
        }
        let client = try #require(outer)
        #expect(client.status == .disconnected)
        let error = await #expect(throws: ClientError.self) { try await client.connected() }
        #expect(error?.code == .shutDown)
    }
}
