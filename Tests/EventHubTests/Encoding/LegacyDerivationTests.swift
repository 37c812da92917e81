internal import SessionCore
internal import Testing

@testable import EventHub

@Suite struct LegacyDerivationTests {
    @Test func aSessionsStartIsToldOnceAndSilenceAtBothEnds() {
        var derivation = LegacyDerivation(status: .disconnected)
        let statuses: [ClientStatus] = [
            .connecting, .connectedStreamSensing, .connectedHTTPStreaming, .stalled, .connectedHTTPStreaming,
            .disconnectedTryingRecovery, .connectedWSPolling,
        ]
        #expect(
            statuses.flatMap { derivation.events(for: .status($0)) }
                == [.sessionStarted(polling: false), .activityWarning(true), .activityWarning(false)]
        )
        #expect(derivation.events(for: .property(name: "sessionId", value: .null)).isEmpty)
        #expect(derivation.events(for: .status(.connectedHTTPPolling)) == [.sessionStarted(polling: true)])
    }
}
