internal import Primitives
internal import SessionCore
internal import Testing

@testable import EventHub

@Suite struct LegacyDerivationTests {
    @Test func sessionStartIsReportedOnceAndSilenceAtStartAndEnd() {
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
        #expect(derivation.events(for: .status(.stalled)) == [.bytesReceived(20), .activityWarning(true)])
        #expect(derivation.events(for: .status(.connectedWSStreaming)) == [.activityWarning(false)])
    }
}
