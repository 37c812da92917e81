internal import LightstreamerTesting
internal import SessionCore
internal import Synchronization
internal import TLCPTransports
internal import Testing

@testable internal import LightstreamerClient

@Suite struct SessionDriverTests {
    @Test func creationReportsPropertiesBeforeTheStatus() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        #expect(link.order.kind == .webSocket)
        #expect(link.order.target == "/lightstreamer")
        #expect(link.order.subprotocol == "TLCP-2.5.0.lightstreamer.com")
        link.open("WSOK", "CONOK,S1,50000,5000,*")
        let words = await fixture.words(until: "status CONNECTED:WS-STREAMING")
        #expect(
            words.filter { !$0.hasPrefix("legacy") } == [
                "status CONNECTING", "property sessionId", "property keepaliveInterval",
                "status CONNECTED:WS-STREAMING",
            ]
        )
        #expect(fixture.client.connectionDetails.sessionId == "S1")
        #expect(fixture.client.connectionOptions.keepaliveInterval == 5)
        #expect(fixture.client.connectionOptions.requested.keepaliveInterval == 0)
        await fixture.client.shutdown()
    }

    @Test(arguments: [("/", ""), ("/a/b", "/a/b"), ("/a%20b/", "/a%20b"), ("/pü€", "/p%C3%BC%E2%82%AC")])
    func pathOfTheAddressPrecedesThatOfTheRequest(path: String, prefix: String) async throws {
        let fixture = try ClientFixture(address: "http://push.invalid\(path)")
        try fixture.client.connect()
        let link = try #require(await fixture.connector.next())
        #expect(link.order.target == "\(prefix)/lightstreamer")
        await fixture.client.shutdown()
    }

    /// `setRequestedMaxFrequency` on another thread, right after the activation by `subscribe`.
    @Test func frequencyThatIsSetDuringSubscribeFollowsTheSubscription() async throws {
        let core = ClientCore(configuration: ClientConfiguration())
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["f"])
        try subscription.activate(SubscriptionToken(1), on: core)
        try subscription.setRequestedMaxFrequency(.limited(2))
        let inputs = await core.mailbox.take()
        #expect(inputs.count == 2)
        guard case .subscribe? = inputs.first, case .changeMaxFrequency? = inputs.last else {
            Issue.record("other inputs: \(inputs)")
            return
        }
    }

    /// One thread runs the calls and the client's task, which handles all of the calls together.
    @Test(.timeLimit(.minutes(1))) func sessionIsCreatedAtTheAddressOfTheCall() async throws {
        let executor = EventLoops.shared.taskExecutor()
        let fixture = try ClientFixture(address: nil) { $0.taskExecutor = executor }
        let client = fixture.client
        let calls = Task(executorPreference: executor) {
            try client.connectionDetails.setServerAddress("http://push.invalid")
            try client.connect()
            try client.connectionDetails.setServerAddress(nil)
        }
        try await calls.value
        let link = try #require(await fixture.connector.next())
        #expect(link.order.host == "push.invalid")
        await client.shutdown()
    }

    @Test func connectionHasTheTimeOfItsResponse() async throws {
        let fixture = try ClientFixture()
        try fixture.client.connectionOptions.setConnectTimeout(.seconds(20))
        try fixture.client.connect()
        let link = try #require(await fixture.connector.next())
        #expect(link.order.responseTime == .seconds(20))
        await fixture.client.shutdown()
    }

    @Test func propertiesOfTheSessionComeAndGo() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        let details = fixture.client.connectionDetails
        #expect(details.serverSocketName == "srv")
        #expect(details.clientIp == "1.2.3.4")
        #expect(fixture.client.connectionOptions.realMaxBandwidth == .unlimited)
        fixture.client.disconnect()
        let words = await fixture.words(until: "property realMaxBandwidth")
        #expect(
            words.filter { !$0.hasPrefix("legacy") } == [
                "status DISCONNECTED", "property sessionId", "property serverSocketName", "property clientIp",
                "property realMaxBandwidth",
            ]
        )
        #expect(details.sessionId == nil)
        #expect(fixture.client.status == .disconnected)
        #expect(await link.heard()?.contains("LS_op=destroy") == true)
        #expect(await link.heard() == nil)
        await fixture.client.shutdown()
    }

    @Test func serverErrorFollowsDisconnected() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        link.open("WSOK", "CONERR,2,no such adapter set")
        let words = await fixture.words(until: "error")
        #expect(words.suffix(2) == ["status DISCONNECTED", "error 2 no such adapter set"])
        await fixture.client.shutdown()
    }

    /// The application subscribes again as soon as the getter says that the subscription is inactive.
    @Test func subscriptionMadeActiveAgainAtOnceIsListed() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        let client = fixture.client
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["f"])
        try client.subscribe(subscription)
        for number in 1...200 {
            _ = await link.heard()
            let again = Task {
                while subscription.isActive { await Task.yield() }
                try client.subscribe(subscription)
            }
            link.say("REQERR,\(number),21,bad")
            try await again.value
            #expect(client.subscriptions.count == 1)
        }
        await client.shutdown()
    }

    @Test func frequencyLimitThatTheServerRefusedIsRequestedAgain() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["f"])
        try fixture.client.subscribe(subscription)
        _ = await link.heard()
        link.say("SUBOK,1,1,1", "CONF,1,unlimited,filtered")
        _ = await fixture.words(until: "frequency unlimited")
        for number in 2...3 {
            try subscription.setRequestedMaxFrequency(.limited(5))
            let reconf = try #require(await link.heard())
            #expect(reconf.contains("LS_reqId=\(number)&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=5.0"))
            link.say("REQERR,\(number),66,later", "SERVNAME,after\(number)")
            _ = await fixture.words(until: "property serverSocketName")
        }
        await fixture.client.shutdown()
    }

    @Test func requestsWaitUntilTheServerReads() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        link.becomes(writable: false)
        for item in ["a", "b"] {
            try fixture.client.subscribe(try Subscription(mode: .merge, item: item, fields: ["f"]))
        }
        link.becomes(writable: true)
        let batch = try #require(await link.heard())
        #expect(batch.contains("LS_group=a") && batch.contains("LS_group=b"))
        await fixture.client.shutdown()
    }

    @Test func lostConnectionIsRecoveredAfterTheTimer() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        link.end(.failed(reason: "cut"))
        _ = await fixture.words(until: "status DISCONNECTED:TRYING-RECOVERY")
        await fixture.clock.fireNext()
        let recovery = try #require(await fixture.connector.next())
        #expect(recovery.order.kind == .httpPoll)
        #expect(String(decoding: recovery.order.body, as: UTF8.self).contains("LS_recovery_from=0"))
        await fixture.client.shutdown()
    }

    @Test func bytesOfAnIncompleteLineEndAStall() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        // The keepalive interval, and the stalled timeout.
        await fixture.clock.fireNext()
        await fixture.clock.fireNext()
        _ = await fixture.words(until: "status STALLED")
        link.sayPart(byteCount: 1_000)
        try fixture.client.connectionOptions.setRetryDelay(7)
        #expect(
            await fixture.words(until: "property retryDelay")
                == ["status CONNECTED:WS-STREAMING", "property retryDelay"]
        )
        await fixture.client.shutdown()
    }

    @Test func handledBytesAreGivenBack() async throws {
        let fixture = try ClientFixture { $0.receiveWindow = 1 }
        let link = try await fixture.connected()
        link.say("PROBE", "SERVNAME,other")
        _ = await fixture.words(until: "property serverSocketName")
        await fixture.client.shutdown()
        #expect(link.pendingBytes == 0)
        #expect(fixture.client.counters.linesReceived == 7)
        #expect(fixture.client.counters.sessions == 1)
    }

    @Test func lessThanHalfOfTheReceiveWindowIsHeldBack() async throws {
        let fixture = try ClientFixture { $0.receiveWindow = 2000 }
        let link = try await fixture.connected()
        let padding = String(repeating: "x", count: 700)
        link.say("SERVNAME,\(padding)1")
        link.say("SERVNAME,\(padding)2")
        link.say("SERVNAME,other")
        _ = await fixture.words(until: "property serverSocketName")
        await fixture.client.shutdown()
        #expect((1..<1000).contains(link.pendingBytes))
    }

    @Test func releasedClientCleansUp() async throws {
        let connector = FakeConnector()
        var configuration = ClientConfiguration()
        configuration.connector = connector
        configuration.clock = ManualClock()
        var client: LightstreamerClient? = try LightstreamerClient(
            serverAddress: "http://push.invalid",
            configuration: configuration
        )
        try client?.connect()
        let link = try #require(await connector.next())
        client = nil
        await connector.isShutDown()
        #expect(await link.heard() == nil)
    }

    @Test func nothingCanBeDoneAfterShutdown() async throws {
        let fixture = try ClientFixture()
        let subscription = try Subscription(mode: .merge, item: "i", fields: ["f"])
        try fixture.client.subscribe(subscription)
        await fixture.client.shutdown()
        #expect(!subscription.isActive)
        #expect(fixture.client.subscriptions.isEmpty)
        #expect(throws: ClientError.self) { try fixture.client.connect() }
        #expect(throws: ClientError.self) { try fixture.client.subscribe(subscription) }
        let error = #expect(throws: ClientError.self) { try fixture.client.sendMessage("x") }
        #expect(error?.code == .shutDown)
    }

    /// The subscription leaves the client after the shutdown has begun, and before the client's task handles it: one thread runs
    /// both.
    @Test(.timeLimit(.minutes(1))) func shutdownDoesNotStopASubscriptionThatHasMoved() async throws {
        let executor = EventLoops.shared.taskExecutor()
        let (fixture, _) = try await ClientFixture.connecting { $0.taskExecutor = executor }
        let (client, other) = (fixture.client, try ClientFixture().client)
        let subscription = try Subscription(mode: .merge, item: "a", fields: ["x"])
        let recorder = StopRecorder()
        subscription.addObserver(recorder)
        try client.subscribe(subscription)
        try await Task(executorPreference: executor) {
            client.core.beginShutdown()
            try client.unsubscribe(subscription)
            try other.subscribe(subscription)
        }.value
        await client.shutdown()
        #expect(recorder.causes.withLock { $0 } == [])
        await other.shutdown()
        #expect(recorder.causes.withLock { $0 } == [.shutDown])
    }

    private final class StopRecorder: SubscriptionObserver {
        let causes = Mutex<[SubscriptionStop]>([])

        func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {}

        func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {
            causes.withLock { $0.append(cause) }
        }
    }

    @Test func connectNeedsAnAddress() async throws {
        let fixture = try ClientFixture(address: nil)
        let error = #expect(throws: ClientError.self) { try fixture.client.connect() }
        #expect(error?.code == .noServerAddress)
        await fixture.client.shutdown()
    }

    @Test func connectIsRefusedBeyondTheLimitByPolicyBlock() async throws {
        let server = "census.invalid:80"
        let others = (1...6).map { _ in Retained() }
        for other in others { SessionCensus.shared.opened(server: server, client: ObjectIdentifier(other)) }
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .block
        let fixture = try ClientFixture(address: "http://census.invalid")
        let error = #expect(throws: ClientError.self) { try fixture.client.connect() }
        #expect(error?.code == .tooManySessions)
        // A call that ends a pause begins a connection as well.
        let pausing = try ClientFixture(address: "http://census.invalid")
        try pausing.client.connectionOptions.setSessionRecoveryTimeout(0)
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .none
        let link = try await pausing.connected()
        link.end(.failed(reason: "cut"))
        _ = await pausing.words(until: "status DISCONNECTED:WILL-RETRY")
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .block
        let later = #expect(throws: ClientError.self) { try pausing.client.connect() }
        #expect(later?.code == .tooManySessions)
        await pausing.client.shutdown()
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .usePolling
        try fixture.client.connect()
        #expect(fixture.client.connectionOptions.forcedTransport == .httpPolling)
        #expect(fixture.client.connectionOptions.idleTimeout == 0)
        #expect(fixture.client.connectionOptions.pollingInterval == 1)
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .none
        for other in others { SessionCensus.shared.closed(client: ObjectIdentifier(other)) }
        await fixture.client.shutdown()
    }

    @Test(arguments: [32, 33])
    func duplicateReleasesTheMessageAndItsCount(code: Int) async throws {
        let fixture = try ClientFixture { $0.maxPendingMessages = 1 }
        let link = try await fixture.connected()
        try fixture.client.sendMessage("a", delegate: MemberLog())
        #expect(await link.heard()?.contains("LS_reqId=1") == true)
        #expect(throws: ClientError.self) { try fixture.client.sendMessage("b") }
        link.say("REQERR,1,\(code),duplicate", "SERVNAME,other")
        _ = await fixture.words(until: "property serverSocketName")
        try fixture.client.sendMessage("c", delegate: MemberLog())
        await fixture.client.shutdown()
    }

    @Test func olderEditionReportsItsOwnPropertyNames() async throws {
        let fixture = try ClientFixture { $0.edition = .old }
        let log = MemberLog()
        fixture.client.addDelegate(log)
        let options = fixture.client.connectionOptions
        try options.setIdleTimeout(1)
        try options.setKeepaliveInterval(1)
        try options.setPollingInterval(1)
        try options.setReverseHeartbeatInterval(1)
        try options.setRequestedMaxBandwidth(.limited(1))
        try options.setHTTPExtraHeaders(["X-A": "b"])
        try options.setRetryDelay(1)
        let names = await log.until("property retryDelay")
        #expect(
            names == [
                "added", "property idleMillis", "property keepaliveMillis", "property pollingMillis",
                "property reverseHeartbeatMillis", "property maxBandwidth", "property httpExtraHeaders",
                "property retryDelay",
            ]
        )
        await fixture.client.shutdown()
    }

    /// A subscription that passes from one client to another must not take late events of the first one for its own.
    @Test func tokensOfTwoClientsDiffer() async throws {
        let former = try ClientFixture()
        let next = try ClientFixture()
        let token = try former.client.sendMessage("m", enqueueWhileDisconnected: true)
        #expect(try next.client.sendMessage("m", enqueueWhileDisconnected: true) != token)
        await former.client.shutdown()
        await next.client.shutdown()
    }

    private final class Retained: Sendable {}

    @Test func aMessageKeepsWhatItsSenderRetainsUntilItIsSent() async throws {
        let fixture = try ClientFixture()
        weak var retained: Retained?
        do {
            let object = Retained()
            retained = object
            try fixture.client.sendMessage(
                "m",
                withSequence: nil,
                timeout: nil,
                enqueueWhileDisconnected: true,
                retaining: object,
                onOutcome: nil
            )
        }
        #expect(retained != nil)
        let link = try await fixture.connected()
        #expect(await link.heard()?.contains("LS_message=m") == true)
        link.say("SERVNAME,other")
        _ = await fixture.words(until: "property serverSocketName")
        #expect(retained == nil)
        await fixture.client.shutdown()
    }

    @Test func queuedMessagesWithoutADelegateCountUntilTheyAreSent() async throws {
        let fixture = try ClientFixture { $0.maxPendingMessageBytes = 10 }
        try fixture.client.sendMessage("12345678", enqueueWhileDisconnected: true)
        let error = #expect(throws: ClientError.self) {
            try fixture.client.sendMessage("abc", enqueueWhileDisconnected: true)
        }
        #expect(error?.code == .overloaded)
        let link = try await fixture.connected()
        #expect(await link.heard()?.contains("LS_message=12345678") == true)
        link.say("SERVNAME,other")
        _ = await fixture.words(until: "property serverSocketName")
        try fixture.client.sendMessage("abc", enqueueWhileDisconnected: true)
        await fixture.client.shutdown()
    }
}
