internal import DemoServer
internal import LightstreamerClient
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct DelegateMemberTests {
    @Test func firstAndLastEventsAreAdditionAndRemoval() async throws {
        try await MemberFixture.runConnected { fixture in
            fixture.client.removeDelegate(fixture.log)
            await fixture.log.until("removed")
            #expect(fixture.log.entries.first == "added" && fixture.log.entries.last == "removed")
        }
    }

    @Test func everyStatusChangeIsReportedOnce() async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.server.install([Fault(.drop)])
            await fixture.log.until("status DISCONNECTED:TRYING-RECOVERY")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
            let statuses = fixture.log.entries.filter { $0.hasPrefix("status") }
            #expect(
                statuses == [
                    "status CONNECTING", "status CONNECTED:WS-STREAMING", "status DISCONNECTED:TRYING-RECOVERY",
                    "status CONNECTED:WS-STREAMING",
                ]
            )
        }
    }

    @Test(arguments: [-3, 1, 2, 7, 8, 9, 10, 11, 60, 61, 66, 68, 71])
    func refusedSessionIsAServerErrorWithItsCode(code: Int) async throws {
        try await MemberFixture.run { fixture in
            await fixture.server.install([Fault(.refuse(code: code, message: "no"), at: .request(.create))])
            try fixture.client.connect()
            let passed = await fixture.log.until("error")
            #expect(passed.suffix(2) == ["status DISCONNECTED", "error \(code) no"])
        }
    }

    @Test(arguments: [(31, 31), (39, 39), (12, 39), (40, 39)])
    func endOfTheSessionIsAServerErrorWithItsCode(code: Int, told: Int) async throws {
        try await MemberFixture.runConnected { fixture in
            await fixture.server.endSessions(code: code, message: "no")
            let passed = await fixture.log.until("error")
            #expect(passed.suffix(2) == ["status DISCONNECTED", "error \(told) no"])
        }
    }

    @Test func propertiesSetByTheServerAreReportedBeforeTheStatus() async throws {
        try await MemberFixture.run { fixture in
            try fixture.client.connect()
            let passed = await fixture.log.until("status CONNECTED")
            #expect(
                passed == [
                    "added", "status CONNECTING", "property sessionId", "property keepaliveInterval",
                    "status CONNECTED:WS-STREAMING",
                ]
            )
        }
    }

    @Test func connectMayBeCalledFromTheErrorEvent() async throws {
        try await MemberFixture.run { fixture in
            fixture.client.addDelegate(Reconnecting())
            await fixture.server.install([Fault(.refuse(code: 8, message: "full"), at: .request(.create))])
            try fixture.client.connect()
            await fixture.log.until("error 8")
            await fixture.log.until("status CONNECTED:WS-STREAMING")
        }
    }

    @Test func firstAuthenticationDelegateIsAskedForCredentials() async throws {
        try await MemberFixture.run { fixture in
            let (first, second) = (Answering(), Answering())
            fixture.client.addDelegate(first)
            fixture.client.addDelegate(second)
            await fixture.server.install([Fault(.status(401), at: .request(.create))])
            try fixture.client.connectionOptions.setForcedTransport(.http)
            try fixture.client.connectionOptions.setRetryDelay(0.05)
            try fixture.client.connect()
            await fixture.log.until("status CONNECTED:HTTP-STREAMING")
            for await kind in first.asked {
                guard case .server = kind else { continue }
                break
            }
            second.finish()
            for await _ in second.asked { Issue.record("the second one was asked") }
        }
    }
}

/// Reconnects after every refusal.
private final class Reconnecting: ClientDelegate {
    func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
        do { try client.connect() } catch { Issue.record(error) }
    }
}

/// Answers challenges without a credential, and records them.
private final class Answering: AuthenticationDelegate {
    let asked: AsyncStream<AuthenticationChallenge.Kind>
    private let continuation: AsyncStream<AuthenticationChallenge.Kind>.Continuation

    init() { (asked, continuation) = AsyncStream.makeStream() }

    func client(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge) {
        continuation.yield(challenge.kind)
        challenge.answer(.continueWithoutCredential)
    }

    func finish() { continuation.finish() }
}
