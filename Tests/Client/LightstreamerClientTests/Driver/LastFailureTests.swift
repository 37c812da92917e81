internal import LightstreamerTesting
internal import SessionCore
internal import Testing

@testable internal import LightstreamerClient

/// Why a client is not connected, as logs and users are told.
@Suite struct LastFailureTests {
    @Test func refusalThatIsRetriedIsAnErrorOfTheServer() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        link.open("WSOK", "CONERR,6,Adapter not available")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.lastFailure == .serverError)
        #expect(fixture.client.lastRefusal == UpstreamRefusal(code: 6, message: "Adapter not available"))
        await fixture.clock.fireNext()
        let next = try #require(await fixture.connector.next())
        #expect(fixture.client.lastRefusal == nil)
        next.end(.unreachable(reason: "no route", kind: .unreachable))
        await fixture.client.shutdown()
    }

    @Test func refusalThatEndsTheAttemptsIsKnownUntilTheClientIsDisconnected() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        link.open("WSOK", "CONERR,1,User/password check failed")
        _ = await fixture.words(until: "error 1")
        #expect(fixture.client.lastRefusal == UpstreamRefusal(code: 1, message: "User/password check failed"))
        try fixture.client.connect()
        let next = try #require(await fixture.connector.next())
        next.open("WSOK", "CONERR,6,Adapter not available")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        fixture.client.disconnect()
        _ = await fixture.words(until: "status DISCONNECTED")
        #expect(fixture.client.lastRefusal == nil)
        await fixture.client.shutdown()
    }

    @Test func addressOfAnAttemptStaysAfterAChange() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        try fixture.client.connectionDetails.setServerAddress("http://other.invalid")
        _ = await fixture.words(until: "property serverAddress")
        #expect(fixture.client.attemptAddress == "http://push.invalid")
        link.open("WSOK", "CONERR,6,Adapter not available")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        await fixture.clock.fireNext()
        _ = await fixture.connector.next()
        #expect(fixture.client.attemptAddress == "http://other.invalid")
        await fixture.client.shutdown()
    }

    @Test func controlLinkIsTheAddressOfTheConnectionsThatUseIt() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        link.open("WSOK", "CONOK,S1,50000,5000,node.invalid:81")
        _ = await fixture.words(until: "status CONNECTED:WS-STREAMING")
        #expect(fixture.client.attemptedControlLink == nil)
        link.say("LOOP,0")
        let bind = try #require(await fixture.connector.next())
        #expect(fixture.client.attemptedControlLink == "http://node.invalid:81")
        #expect(fixture.client.attemptAddress == "http://push.invalid")
        bind.open("WSOK", "END,48,refresh")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        await fixture.clock.fireNext()
        _ = await fixture.connector.next()
        #expect(fixture.client.attemptedControlLink == nil)
        await fixture.client.shutdown()
    }

    @Test(arguments: ["END,48,refresh", "REQERR,1,20,Session not found"])
    func lossOfTheSessionIsAnErrorOfTheServer(line: String) async throws {
        let (fixture, link) = try await ClientFixture.connected()
        link.say(line)
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.lastFailure == .serverError)
        #expect(fixture.client.lastRefusal != nil)
        await fixture.client.shutdown()
    }

    @Test func pauseBeforeTheNextAttemptIsKnownWithTheStatus() async throws {
        let fixture = try ClientFixture()
        #expect(fixture.client.attemptPause == nil)
        let link = try await fixture.connected()
        // The connection is stable: the first attempt after its loss comes soon.
        link.say("PROBE")
        link.end(.failed(reason: "reset", kind: .closed))
        _ = await fixture.words(until: "status DISCONNECTED:TRYING-RECOVERY")
        let pause = try #require(fixture.client.attemptPause)
        #expect(pause <= .seconds(fixture.client.connectionOptions.firstRetryMaxDelay))
        await fixture.clock.fireNext()
        let recovery = try #require(await fixture.connector.next())
        recovery.say("CONERR,4,Session not found")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.attemptPause == .seconds(fixture.client.connectionOptions.retryDelay))
        await fixture.client.shutdown()
    }

    @Test(arguments: [[], ["<html>It works!</html>"]])
    func responseWithoutASessionIsNotThatOfALightstreamerServer(lines: [String]) async throws {
        let fixture = try ClientFixture()
        try fixture.client.connectionOptions.setForcedTransport(.http)
        try fixture.client.connect()
        let creation = try #require(await fixture.connector.next())
        for line in lines { creation.say(line) }
        creation.end(.completed)
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.lastFailure == .notLightstreamer)
        await fixture.client.shutdown()
    }

    @Test func serverMayCloseAWebSocketBeforeTheSession() async throws {
        let (fixture, link) = try await ClientFixture.connecting()
        link.open("WSOK")
        link.end(.completed)
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.lastFailure == .closed)
        await fixture.client.shutdown()
    }

    @Test func wrongCountOfNotificationsIsAFailureOfItsOwn() async throws {
        let (fixture, link) = try await ClientFixture.connected()
        link.end(.failed(reason: "reset", kind: .closed))
        _ = await fixture.words(until: "status DISCONNECTED:TRYING-RECOVERY")
        #expect(fixture.client.lastFailure == .closed)
        await fixture.clock.fireNext()
        let recovery = try #require(await fixture.connector.next())
        recovery.say("CONOK,S1,50000,5000,*", "PROG,3")
        _ = await fixture.words(until: "status DISCONNECTED:WILL-RETRY")
        #expect(fixture.client.lastFailure == .progressMismatch)
        await fixture.client.shutdown()
    }

    @Test func silentStreamIsATimeoutAfterTheEndOfAControlRequest() async throws {
        let fixture = try ClientFixture()
        try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
        try fixture.client.connect()
        let creation = try #require(await fixture.connector.next())
        creation.say("CONOK,S1,50000,5000,*", "LOOP,0")
        let stream = try #require(await fixture.connector.next())
        stream.say("CONOK,S1,50000,5000,*")
        _ = await fixture.words(until: "status CONNECTED:HTTP-STREAMING")
        try fixture.client.subscribe(Subscription(mode: .merge, items: ["item1"], fields: ["a"]))
        let control = try #require(await fixture.connector.next())
        control.say("REQOK,1")
        control.end(.completed)
        stream.say("SUBOK,1,1,1")
        _ = await fixture.words(until: "subscribed")
        #expect(fixture.client.lastFailure == .closed)
        // The keepalive interval, and the stalled timeout.
        await fixture.clock.fireNext()
        await fixture.clock.fireNext()
        _ = await fixture.words(until: "status STALLED")
        await fixture.clock.fireNext()
        _ = await fixture.words(until: "status DISCONNECTED:TRYING-RECOVERY")
        #expect(fixture.client.lastFailure == .timeout)
        await fixture.client.shutdown()
    }
}
