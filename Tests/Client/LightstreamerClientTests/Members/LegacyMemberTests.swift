internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct LegacyMemberTests {
    private static func run(
        server change: (inout DemoServerConfiguration) -> Void = { _ in },
        _ body: (MemberFixture, LegacyMemberLog) async throws -> Void
    ) async throws {
        try await MemberFixture.run(server: change) { fixture in
            let listener = LegacyMemberLog()
            fixture.client.addLegacyListener(listener)
            try await body(fixture, listener)
        }
    }

    @Test(arguments: [(ForcedTransport.ws, "started streaming"), (.httpPolling, "started polling")])
    func sessionStartsOnceAndIsClosedOnDemand(transport: ForcedTransport, start: String) async throws {
        try await Self.run { fixture, listener in
            try fixture.client.connectionOptions.setForcedTransport(transport)
            try fixture.client.connect()
            let passed = await listener.log.until(start)
            #expect(passed.contains("established"))
            #expect(passed.contains { $0.hasPrefix("about to send") })
            fixture.client.disconnect()
            await listener.log.until("closed")
            #expect(listener.log.entries.count { $0 == start } == 1)
            #expect(listener.log.entries.contains { $0.hasPrefix("bytes") })
        }
    }

    @Test func silenceIsWarnedOf() async throws {
        try await Self.run { fixture, listener in
            try fixture.client.connectionOptions.setKeepaliveInterval(0.05)
            try fixture.client.connectionOptions.setStalledTimeout(0.05)
            try await fixture.connect()
            await fixture.server.install([Fault(.mute(.milliseconds(300)))])
            await listener.log.until("warning true")
            await listener.log.until("warning false")
        }
    }

    @Test func brokenConnectionIsReportedAndReplaced() async throws {
        try await Self.run { fixture, listener in
            try await fixture.connect()
            await fixture.server.install([Fault(.drop)])
            await listener.log.until("connection failure")
            await listener.log.until("established")
        }
    }

    @Test func endOfTheSessionIsReportedWithItsCause() async throws {
        try await Self.run { fixture, listener in
            try await fixture.connect()
            await fixture.server.endSessions(code: 33, message: "sorry")
            await listener.log.until("ended 33")
        }
    }

    @Test func refusalIsAServerFailure() async throws {
        try await Self.run { fixture, listener in
            await fixture.server.install([Fault(.refuse(code: 7, message: "full"), at: .request(.create))])
            try fixture.client.connect()
            await listener.log.until("server failure 7 full, final")
        }
    }

    @Test func nonsenseIsADataError() async throws {
        try await Self.run { fixture, listener in
            try await fixture.connect()
            await fixture.server.install([Fault(.inject(["U,one,1,a"]))])
            await listener.log.until("data error")
            await fixture.log.until("error 61")
        }
    }

    @Test func deviceTokenAndBadgeAreKeptByTheServer() async throws {
        try await Self.run {
            $0.mobilePush = .devicesOnly
        } _: { fixture, listener in
            try await fixture.connect()
            fixture.client.registerDeviceToken("new", applicationID: "app", previousToken: "old")
            let passed = await listener.log.until("token ok")
            #expect(passed.last?.hasSuffix(" of MPN_INTERNAL_DATA_ADAPTER") == true)
            fixture.client.resetBadge()
            await listener.log.until("badge ok")
        }
    }

    @Test func refusedDeviceAndBadgeAreReportedWithTheirCodes() async throws {
        try await Self.run { fixture, listener in
            try await fixture.connect()
            fixture.client.registerDeviceToken("new", applicationID: "app", previousToken: "old")
            fixture.client.resetBadge()
            let passed = await listener.log.until("badge failed")
            #expect(passed.contains { $0.hasPrefix("token failed 40") })
        }
    }

    @Test func legacyListenerAnswersChallengesWithoutAClientDelegate() async throws {
        try await Self.run { fixture, _ in
            let listener = AnsweringListener()
            fixture.client.addLegacyListener(listener)
            await fixture.server.install([Fault(.status(401), at: .request(.create))])
            try fixture.client.connectionOptions.setForcedTransport(.http)
            try fixture.client.connectionOptions.setRetryDelay(0.05)
            try fixture.client.connect()
            await listener.log.until("challenge server")
            await fixture.log.until("status CONNECTED:HTTP-STREAMING")
        }
    }

    @Test func retryableEndIsAServerFailure() async throws {
        try await Self.run { fixture, listener in
            try await fixture.connect()
            await fixture.server.endSessions(code: 48, message: "limit")
            await listener.log.until("server failure 48 limit, retried")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
        }
    }

    @Test func removedListenerReceivesNothing() async throws {
        try await Self.run { fixture, listener in
            fixture.client.removeLegacyListener(listener)
            try await fixture.connect()
            #expect(listener.log.entries.isEmpty)
        }
    }
}

/// Records the events of a legacy listener.
final class LegacyMemberLog: LegacyConnectionListener {
    let log = MemberLog()

    func clientConnectionDidEstablish(_ client: LightstreamerClient) { log.note("established") }
    func clientConnection(_ client: LightstreamerClient, didStartSessionWithPolling isPolling: Bool) {
        log.note(isPolling ? "started polling" : "started streaming")
    }
    func clientConnection(_ client: LightstreamerClient, didReceiveNewBytes count: Int) { log.note("bytes \(count)") }
    func clientConnection(_ client: LightstreamerClient, didChangeActivityWarningStatus isWarning: Bool) {
        log.note("warning \(isWarning)")
    }
    func clientConnectionDidClose(_ client: LightstreamerClient) { log.note("closed") }
    func clientConnection(_ client: LightstreamerClient, didEndWithCause cause: Int) { log.note("ended \(cause)") }
    func clientConnection(_ client: LightstreamerClient, didReceiveConnectionFailure reason: String) {
        log.note("connection failure")
    }
    func clientConnection(
        _ client: LightstreamerClient,
        didReceiveServerFailure code: Int,
        message: String,
        willRetry: Bool
    ) {
        log.note("server failure \(code) \(message), \(willRetry ? "retried" : "final")")
    }
    func clientConnection(_ client: LightstreamerClient, didReceiveDataError reason: String) { log.note("data error") }
    func clientConnection(
        _ client: LightstreamerClient,
        didSucceedChangingDeviceTokenWithInfo info: DeviceTokenInfo
    ) { log.note("token ok \(info.deviceID) of \(info.adapterName)") }
    func clientConnection(
        _ client: LightstreamerClient,
        didFailChangingDeviceTokenWithCode code: Int,
        message: String?
    ) { log.note("token failed \(code)") }
    func clientConnectionDidSucceedResettingBadge(_ client: LightstreamerClient) { log.note("badge ok") }
    func clientConnection(_ client: LightstreamerClient, didFailResettingBadgeWithCode code: Int, message: String?) {
        log.note("badge failed \(code)")
    }
    func clientConnection(_ client: LightstreamerClient, isAboutToSend request: inout OutgoingRequest) {
        log.note("about to send \(request.method)")
    }
}

/// Answers challenges without a credential.
private final class AnsweringListener: LegacyAuthenticationListener {
    let log = MemberLog()

    func clientConnection(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge) {
        if case .server = challenge.kind { log.note("challenge server") }
        challenge.answer(.continueWithoutCredential)
    }
}
