internal import DemoServer
internal import LightstreamerClient
internal import Logging
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct ClientMemberTests {
    @Test func libraryNamesItselfAndItsVersion() {
        #expect(!LightstreamerClient.libName.isEmpty)
        #expect(LightstreamerClient.libVersion.contains("."))
    }

    @Test func limitedExceptionsTurnRefusedReadsIntoNil() async {
        // In a process of its own, because the switch applies to all clients.
        await #expect(processExitsWith: .success) {
            let subscription = try Subscription(mode: .merge, item: "item1", fields: ["name"])
            #expect(throws: ClientError.self) { try subscription.valueWithItemName("other", fieldPos: 1) }
            LightstreamerClient.limitExceptionsUse = true
            #expect(try subscription.valueWithItemName("other", fieldPos: 1) == nil)
            #expect(try subscription.valueWithItemPos(9, fieldName: "other") == nil)
            #expect(try subscription.commandValueWithItemPos(1, key: "k", fieldPos: 1) == nil)
            #expect(throws: ClientError.self) { try subscription.setItems(["two words"]) }
        }
    }

    @Test func addressAndAdapterSetOfTheInitialiserAreThoseOfTheDetails() throws {
        let client = try LightstreamerClient(serverAddress: "https://push.example.com/a", adapterSet: "SET")
        #expect(client.connectionDetails.serverAddress == "https://push.example.com/a")
        #expect(client.connectionDetails.adapterSet == "SET")
        #expect(client.connectionDetails === client.connectionDetails)
        #expect(client.connectionOptions === client.connectionOptions)
        #expect(throws: ClientError.self) { try LightstreamerClient(serverAddress: "ws://push.example.com") }
    }

    @Test func connectWithoutAnAddressIsRefused() throws {
        let error = #expect(throws: ClientError.self) { try LightstreamerClient().connect() }
        #expect(error?.code == .noServerAddress)
    }

    @Test func connectAndDisconnectGoThroughTheirStatuses() async throws {
        try await MemberFixture.run { fixture in
            #expect(fixture.client.status == .disconnected)
            try await fixture.connect()
            #expect(fixture.client.status == .connectedWSStreaming)
            try fixture.client.connect()
            fixture.client.disconnect()
            await fixture.log.until("status DISCONNECTED")
            #expect(fixture.client.status == .disconnected)
            let statuses = fixture.log.entries.filter { $0.hasPrefix("status") }
            #expect(statuses == ["status CONNECTING", "status CONNECTED:WS-STREAMING", "status DISCONNECTED"])
        }
    }

    @Test func delegatesAreNotifiedOfTheirAdditionAndRemoval() async throws {
        try await MemberFixture.run { fixture in
            fixture.client.addDelegate(fixture.log)
            #expect(fixture.client.delegates.count == 1)
            fixture.client.removeDelegate(fixture.log)
            fixture.client.removeDelegate(fixture.log)
            #expect(fixture.client.delegates.isEmpty)
            await fixture.log.until("removed")
            #expect(fixture.log.entries == ["added", "removed"])
        }
    }

    @Test func activeSubscriptionsAreListedInTheirOrder() async throws {
        try await MemberFixture.runConnected { fixture in
            let first = try await fixture.quote()
            let second = try Subscription(mode: .raw, item: "events", fields: ["text"])
            try await fixture.subscribe(second, to: "EVENTS")
            #expect(fixture.client.subscriptions.elementsEqual([first, second], by: ===))
            #expect(throws: ClientError.self) { try fixture.client.subscribe(first) }
            try fixture.client.unsubscribe(first)
            await fixture.log.until("unsubscribed")
            #expect(fixture.client.subscriptions.elementsEqual([second], by: ===))
            try fixture.client.unsubscribe(first)
            let other = try LightstreamerClient()
            #expect(throws: ClientError.self) { try other.unsubscribe(second) }
        }
    }

    @Test func orderOfManySubscriptionsOutlastsTheEndOfSome() throws {
        let client = try LightstreamerClient()
        let all = try (0..<1_000).map { try Subscription(mode: .merge, item: "item\($0)", fields: ["x"]) }
        for subscription in all { try client.subscribe(subscription) }
        for index in stride(from: 0, to: all.count, by: 2) { try client.unsubscribe(all[index]) }
        try client.subscribe(all[0])
        let expected = stride(from: 1, to: all.count, by: 2).map { all[$0] } + [all[0]]
        #expect(client.subscriptions.map { ObjectIdentifier($0) } == expected.map { ObjectIdentifier($0) })
    }

    @Test func cookiesTravelWithTheRequestsOfTheirDomain() async throws {
        let seen = Mutex<[String]>([])
        try await MemberFixture.run(client: {
            $0.requestDecorator = { request in
                let cookies = request.headers.filter { $0.name.lowercased() == "cookie" }.map(\.value)
                seen.withLock { $0 += cookies }
            }
        }) { fixture in
            fixture.client.addCookies([
                Cookie(name: "a", value: "1", domain: "127.0.0.1", isHostOnly: true),
                Cookie(name: "b", value: "2", domain: "example.com", isHostOnly: true),
            ])
            #expect(fixture.client.cookies(forURL: fixture.address).map(\.name) == ["a"])
            #expect(fixture.client.cookies(forURL: nil).count == 2)
            try await fixture.connect()
            #expect(seen.withLock { $0 } == ["a=1"])
        }
    }

    @Test func logContainsNoPassword() async throws {
        let lines = Mutex<[String]>([])
        try await MemberFixture.run(client: {
            $0.logger = Logger(label: "client") { _ in
                CollectingLogHandler { line in lines.withLock { $0.append(line) } }
            }
        }) { fixture in
            fixture.client.connectionDetails.setPassword("s3cret-word")
            try await fixture.connect()
            let logged = lines.withLock { $0 }
            #expect(!logged.isEmpty)
            #expect(!logged.contains { $0.contains("s3cret-word") })
        }
    }
}

/// Passes every line of a log to a closure.
private struct CollectingLogHandler: LogHandler {
    var logLevel = Logger.Level.trace
    var metadata = Logger.Metadata()
    let take: @Sendable (String) -> Void

    init(_ take: @escaping @Sendable (String) -> Void) { self.take = take }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { take("\(event.message) \(event.metadata ?? [:])") }
}
