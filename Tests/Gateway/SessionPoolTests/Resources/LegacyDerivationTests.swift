internal import Changes
internal import Primitives
internal import SessionCore
internal import Testing

@testable import SessionPool

@Suite struct LegacyDerivationTests {
    @Test func sessionStartIsReportedOnceAndSilenceAtStartAndEnd() {
        var derivation = LegacyDerivation(status: .disconnected)
        let statuses: [ClientStatus] = [
            .connecting, .connectedStreamSensing, .connectedHTTPStreaming, .stalled, .connectedHTTPStreaming,
            .disconnectedTryingRecovery, .connectedWSPolling,
        ]
        #expect(
            statuses.flatMap { derivation.events(forStatus: $0) }
                == [.sessionStarted(polling: false), .activityWarning(true), .activityWarning(false)]
        )
        derivation.sessionEnded()
        #expect(derivation.events(forStatus: .connectedHTTPPolling) == [.sessionStarted(polling: true)])
    }

    @Test func theStartOfAnAdoptedSessionIsNotReportedAgain() {
        var derivation = LegacyDerivation(status: .disconnected, continuesSession: true)
        let statuses: [ClientStatus] = [.disconnectedTryingRecovery, .connectedWSStreaming, .connectedHTTPPolling]
        #expect(statuses.flatMap { derivation.events(forStatus: $0) }.isEmpty)
        derivation.sessionEnded()
        #expect(derivation.events(forStatus: .connectedWSStreaming) == [.sessionStarted(polling: false)])
    }

    @Test func receivedBytesAreReportedOnceASecond() {
        var derivation = LegacyDerivation(status: .disconnected)
        let reports = (0..<5).map { derivation.received(bytes: 10, at: .zero + .milliseconds(300 * $0)) }
        #expect(reports == [.bytesReceived(10), nil, nil, nil, .bytesReceived(40)])
    }

    @Test func theLastBytesAreReportedBeforeSilence() {
        var derivation = LegacyDerivation(status: .connectedWSStreaming)
        _ = derivation.received(bytes: 10, at: .zero)
        let early = derivation.received(bytes: 20, at: .zero + .milliseconds(1))
        #expect(early == nil)
        #expect(derivation.events(forStatus: .stalled) == [.bytesReceived(20), .activityWarning(true)])
        #expect(derivation.events(forStatus: .connectedWSStreaming) == [.activityWarning(false)])
    }
}
