internal import LightstreamerTesting
internal import SessionCore
internal import Synchronization
internal import Testing

@testable internal import LightstreamerClient
@testable internal import TLCPTransports

/// Timers of a client, and their suspension while an authentication challenge waits for its answer.
@Suite struct SessionTimersTests {
    private static func timer(_ purpose: SessionTimer.Purpose) -> SessionTimer {
        SessionTimer(purpose: purpose, generation: 1)
    }

    private let first = ObjectIdentifier(Int.self)
    private let second = ObjectIdentifier(String.self)

    @Test func challengeSuspendsTheTimersOfAttempts() {
        let clock = ManualClock()
        let timers = SessionTimers(clock: clock) { _ in }
        timers.schedule(Self.timer(.transport), after: .seconds(4))
        timers.schedule(Self.timer(.heartbeat), after: .seconds(60))
        clock.pass(.seconds(1))
        timers.challengeStarted(first)
        timers.challengeStarted(second)
        #expect(clock.remainingTimes == [.seconds(59)])
        clock.pass(.seconds(30))
        timers.schedule(Self.timer(.control), after: .seconds(2))
        timers.challengeEnded(first)
        #expect(clock.remainingTimes == [.seconds(29)])
        timers.challengeEnded(second)
        #expect(clock.remainingTimes == [.seconds(2), .seconds(3), .seconds(29)])
    }

    @Test func suspendedTimerCanBeCancelled() {
        let clock = ManualClock()
        let timers = SessionTimers(clock: clock) { _ in }
        timers.schedule(Self.timer(.idle), after: .seconds(4))
        timers.challengeStarted(first)
        timers.cancel(Self.timer(.idle))
        timers.challengeEnded(first)
        #expect(clock.remainingTimes == [])
    }

    @Test func answerOfAWithdrawnChallengeHasNoEffect() {
        let clock = ManualClock()
        let timers = SessionTimers(clock: clock) { _ in }
        timers.challengeStarted(first)
        timers.schedule(Self.timer(.transport), after: .seconds(4))
        timers.challengesWithdrawn()
        #expect(clock.remainingTimes == [.seconds(4)])
        timers.challengeStarted(second)
        timers.challengeEnded(first)
        #expect(clock.remainingTimes == [])
        timers.challengeEnded(second)
        #expect(clock.remainingTimes == [.seconds(4)])
    }

    @Test func unansweredChallengeSuspendsTheConnectionAttempt() async throws {
        let fixture = try ClientFixture()
        let delegate = HoldingDelegate()
        fixture.client.addDelegate(delegate)
        try fixture.client.connect()
        _ = await fixture.connector.next()
        await fixture.clock.timerIsSet()
        ConnectionHooks(core: fixture.client.core).authenticate(
            AuthenticationChallenge(kind: .clientCertificate, host: "h", port: 1, previousFailureCount: 0) { _ in }
        )
        try fixture.client.connectionOptions.setStalledTimeout(9)
        _ = await fixture.words(until: "property stalledTimeout")
        #expect(fixture.clock.remainingTimes == [])
        fixture.clock.pass(.seconds(100))
        delegate.answer()
        try fixture.client.connectionOptions.setStalledTimeout(8)
        _ = await fixture.words(until: "property stalledTimeout")
        #expect(fixture.clock.remainingTimes == [.seconds(4)])
        await fixture.client.shutdown()
    }

    @Test func unansweredChallengeOfAnEndedConnectionDoesNotSuspendTheNext() async throws {
        let fixture = try ClientFixture()
        let delegate = HoldingDelegate()
        fixture.client.addDelegate(delegate)
        try fixture.client.connect()
        _ = await fixture.connector.next()
        ConnectionHooks(core: fixture.client.core).authenticate(
            AuthenticationChallenge(kind: .clientCertificate, host: "h", port: 1, previousFailureCount: 0) { _ in }
        )
        fixture.client.disconnect()
        try fixture.client.connect()
        _ = await fixture.connector.next()
        try fixture.client.connectionOptions.setStalledTimeout(9)
        _ = await fixture.words(until: "property stalledTimeout")
        #expect(fixture.clock.remainingTimes == [.seconds(4)])
        await fixture.client.shutdown()
    }
}

/// Stores a challenge until the test answers it.
private final class HoldingDelegate: AuthenticationDelegate {
    private let challenge = Mutex<AuthenticationChallenge?>(nil)

    func client(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge) {
        self.challenge.withLock { $0 = challenge }
    }

    func answer() {
        let challenge = challenge.withLock { challenge in
            defer { challenge = nil }
            return challenge
        }
        challenge?.answer(.continueWithoutCredential)
    }
}
