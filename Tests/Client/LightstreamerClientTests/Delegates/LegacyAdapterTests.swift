internal import SessionCore
internal import Synchronization
internal import Testing

@testable internal import LightstreamerClient

@Suite struct LegacyAdapterTests {
    private final class Recorder: LegacyConnectionListener {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }

        private func note(_ word: String) { words.withLock { $0.append(word) } }

        func clientConnectionDidEstablish(_ client: LightstreamerClient) { note("established") }
        func clientConnection(_ client: LightstreamerClient, didStartSessionWithPolling isPolling: Bool) {
            note("started \(isPolling)")
        }
        func clientConnection(_ client: LightstreamerClient, didReceiveNewBytes count: Int) { note("bytes \(count)") }
        func clientConnection(_ client: LightstreamerClient, didChangeActivityWarningStatus isWarning: Bool) {
            note("warning \(isWarning)")
        }
        func clientConnectionDidClose(_ client: LightstreamerClient) { note("closed") }
        func clientConnection(_ client: LightstreamerClient, didEndWithCause cause: Int) { note("ended \(cause)") }
        func clientConnection(_ client: LightstreamerClient, didReceiveConnectionFailure reason: String) {
            note("failure")
        }
        func clientConnection(_ client: LightstreamerClient, didFailResettingBadgeWithCode code: Int, message: String?)
        {
            note("badge \(code)")
        }
    }

    private func adapted(
        _ events: [ClientEvent],
        since status: ClientStatus = .disconnected
    ) throws -> [String] {
        let recorder = Recorder()
        let client = try LightstreamerClient()
        let adapter = LegacyAdapter(listener: recorder, status: status)
        for event in events { adapter.client(client, emitted: event) }
        return recorder.all
    }

    @Test func sessionStartsOnceWhateverItsTransports() throws {
        let words = try adapted([
            .property("sessionId"), .status(.connectedStreamSensing), .status(.connectedHTTPStreaming),
            .status(.disconnectedTryingRecovery), .status(.connectedHTTPPolling), .property("sessionId"),
            .status(.disconnectedWillRetry), .property("sessionId"), .status(.connectedWSPolling),
        ])
        #expect(words == ["started false", "started true"])
    }

    @Test(arguments: [
        ClientStatus.connectedWSStreaming, .connectedHTTPPolling, .stalled, .disconnectedTryingRecovery,
    ])
    func sessionThatALaterListenerFindsHasStartedAlready(status: ClientStatus) throws {
        let words = try adapted(
            [
                .status(.disconnectedTryingRecovery), .status(.connectedWSStreaming), .status(.disconnectedWillRetry),
                .property("sessionId"), .property("sessionId"), .status(.connectedWSPolling),
            ],
            since: status
        )
        #expect(words == (status == .stalled ? ["warning false"] : []) + ["started true"])
    }

    @Test(arguments: [ClientStatus.connecting, .connectedStreamSensing, .disconnectedWillRetry])
    func sessionWithoutATransportHasNotStarted(status: ClientStatus) throws {
        #expect(try adapted([.status(.connectedWSStreaming)], since: status) == ["started false"])
    }

    @Test func laterListenerOfAStreamingClientHearsOfNoStart() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder()
        let link = try await fixture.connected()
        fixture.client.addLegacyListener(recorder)
        // The keepalive interval, and the stalled timeout.
        await fixture.clock.fireNext()
        await fixture.clock.fireNext()
        _ = await fixture.words(until: "status STALLED")
        link.say("PROBE")
        _ = await fixture.words(until: "status CONNECTED:WS-STREAMING")
        await fixture.client.shutdown()
        #expect(recorder.all.filter { !$0.hasPrefix("bytes") } == ["warning true", "warning false", "closed"])
    }

    @Test func stalledIsAWarningUntilTheNextStatus() throws {
        let words = try adapted([
            .status(.connectedWSStreaming), .status(.stalled), .status(.connectedWSStreaming), .status(.stalled),
            .status(.disconnectedTryingRecovery),
        ])
        #expect(words == ["started false", "warning true", "warning false", "warning true", "warning false"])
    }

    @Test func otherEventsAreHandedOn() throws {
        let words = try adapted([
            .legacy(.connectionEstablished), .bytesReceived(7), .legacy(.connectionFailed(reason: "x")),
            .legacy(.ended(cause: 32)), .legacy(.badgeReset(deviceId: nil, code: 45, message: nil)), .legacy(.closed),
        ])
        #expect(words == ["established", "bytes 7", "failure", "ended 32", "badge 45", "closed"])
    }

    @Test func disconnectionByTheApplicationCloses() async throws {
        let fixture = try ClientFixture()
        let recorder = Recorder()
        fixture.client.addLegacyListener(recorder)
        _ = try await fixture.connected()
        fixture.client.disconnect()
        await fixture.client.shutdown()
        #expect(recorder.all.filter { !$0.hasPrefix("bytes") } == ["established", "started false", "closed"])
        #expect(recorder.all.contains { $0.hasPrefix("bytes") })
    }
}
