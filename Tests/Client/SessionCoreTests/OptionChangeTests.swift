internal import SessionCore
internal import Testing

/// Options that change while a session exists, and `connect()` while the client waits.
@Suite struct OptionChangeTests {
    private static let polls: [ForcedTransport] = [.wsPolling, .httpPolling]
    private static let streams: [ForcedTransport] = [.wsStreaming, .httpStreaming]

    // MARK: - Granted values

    @Test(arguments: polls)
    func pollingIntervalSetDuringAPollIsNotOverwrittenByItsGrant(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.setOptions { $0.pollingInterval = 3 }
        harness.receive("LOOP,0")
        #expect(!harness.takeTrace().contains { $0.hasPrefix("P: pollingInterval") })
        #expect(harness.remaining(.polling) == 3000)
        harness.advance(3000)
        #expect(harness.takeRequests().last?.contains("LS_polling_millis=3000") == true)
        harness.receive("CONOK,sid,70000,19000,*", "LOOP,500")
        #expect(harness.takeTrace().contains("P: pollingInterval(0.5)"))
    }

    @Test(arguments: polls)
    func idleTimeoutSetDuringAPollIsNotOverwrittenByItsGrant(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.receive("LOOP,0")
        harness.setOptions { $0.idleTimeout = 7 }
        harness.receive("CONOK,sid,70000,15000,*")
        #expect(!harness.takeTrace().contains { $0.hasPrefix("P: idleTimeout") })
        harness.receive("LOOP,0")
        #expect(harness.takeRequests().last?.contains("LS_idle_millis=7000") == true)
        harness.receive("CONOK,sid,70000,6000,*")
        #expect(harness.takeTrace().contains("P: idleTimeout(6.0)"))
    }

    @Test(arguments: streams)
    func keepaliveIntervalSetDuringABindIsNotOverwrittenByItsGrant(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.receive("LOOP,0")
        if forced == .wsStreaming { harness.open() }
        harness.setOptions { $0.keepaliveInterval = 9 }
        if forced == .wsStreaming { harness.receive("WSOK") }
        harness.receive("CONOK,sid,70000,4000,*")
        #expect(!harness.takeTrace().contains { $0.hasPrefix("P: keepaliveInterval") })
        harness.receive("LOOP,0")
        if forced == .wsStreaming { harness.open() }
        #expect(harness.takeRequests().last?.contains("LS_keepalive_millis=9000") == true)
        if forced == .wsStreaming { harness.receive("WSOK") }
        harness.receive("CONOK,sid,70000,4000,*")
        #expect(harness.takeTrace().contains("P: keepaliveInterval(4.0)"))
    }

    // MARK: - Polling interval

    @Test(arguments: polls)
    func pollingIntervalCountsFromTheStartOfThePoll(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.receive("LOOP,0")
        harness.advance(1500)
        harness.receive("CONOK,sid,70000,19000,*", "LOOP,2000")
        #expect(harness.remaining(.polling) == 500)
        harness.advance(500)
        _ = harness.takeTrace()
        harness.advance(2500)
        harness.receive("LOOP,2000")
        #expect(harness.remaining(.polling) == nil)
        #expect(harness.takeRequests().count == 1)
    }

    /// A server that grants years is not waited for: the next poll, and the end of a silent connection, come within hours.
    @Test func grantsOfYearsDoNotStopTheClient() {
        let poll = SessionHarness.bound(.httpPolling)
        poll.receive("LOOP,0")
        poll.receive("CONOK,sid,70000,9223372036854775807,*", "LOOP,9223372036854775807")
        #expect(poll.remaining(.polling) == 3_600_000)
        poll.advance(3_600_000)
        #expect(poll.takeRequests().last?.contains("LS_polling_millis=3600000&LS_idle_millis=3600000") == true)
        #expect(poll.remaining(.idle) == 3_604_000)
        let stream = SessionHarness.opened()
        stream.receive("WSOK", "CONOK,sid,70000,9223372036854775807,*")
        stream.advance(3_600_000 + 2_000 + 3_000)
        #expect(stream.status == .disconnectedTryingRecovery)
    }

    @Test(arguments: polls)
    func shortPollingIntervalOfTheUserIsKeptWithoutData(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced) {
            $0.pollingInterval = 0.1004
            $0.idleTimeout = 0
        }
        for _ in 1...20 {
            harness.receive("LOOP,100")
            #expect(harness.remaining(.polling) == 100)
            harness.advance(100)
            harness.receive("CONOK,sid,70000,0,*")
        }
        // An interval of the server is not the one of the user.
        for _ in 1...6 {
            harness.receive("LOOP,10")
            harness.advance(10)
            harness.receive("CONOK,sid,70000,0,*")
        }
        #expect(harness.remaining(.polling) == 3990)
    }

    // MARK: - connect() while waiting

    @Test func connectCutsTheRetryPauseShort() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        harness.advance(100)
        harness.breakStream()
        _ = harness.takeTrace()
        harness.connect()
        #expect(harness.takeTrace() == ["T: transport 4000", "open ws http://server", "S: CONNECTING"])
        #expect(harness.remaining(.retry) == nil)
        harness.connect()
        #expect(harness.takeTrace() == [])
    }

    /// As by a delegate that calls it at each status of this kind.
    @Test func connectAtEachFailureIsNoLoopWithoutPauses() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        _ = harness.takeTrace()
        for _ in 0..<3 {
            harness.breakStream()
            harness.connect()
            harness.advance(60)
            harness.connect()
            #expect(harness.remaining(.retry) == 40)
            #expect(harness.takeStatuses() == ["S: DISCONNECTED:WILL-RETRY"])
            harness.advance(40)
            #expect(harness.takeStatuses() == ["S: CONNECTING"])
            harness.open("WSOK")
        }
    }

    @Test func connectCutsThePausesOfARecoveryShort() {
        let harness = SessionHarness.streamingOnSocket()
        harness.advance(100)
        harness.breakStream()
        #expect(harness.remaining(.recovery) == 100)
        _ = harness.takeTrace()
        harness.connect()
        #expect(harness.takeRequests().count == 1)
        #expect(harness.remaining(.recovery) == nil)
        harness.connect()
        #expect(harness.takeRequests() == [])
        harness.breakStream()
        #expect(harness.remaining(.retry) == 4000)
        harness.advance(100)
        harness.connect()
        #expect(harness.takeRequests().first?.hasSuffix("LS_cause=recovery.error") == true)
        #expect(harness.remaining(.retry) == nil)
        #expect(harness.status == .disconnectedTryingRecovery)
    }

    @Test func connectDoesNothingWithASession() {
        for harness in [SessionHarness.streamingOnSocket(), .sensing(), .bound(.httpPolling)] {
            harness.connect()
            #expect(harness.takeTrace() == [])
        }
    }

    // MARK: - Bandwidth

    @Test func answerToABandwidthRequestIsNotifiedEvenIfTheLimitStays() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("CONS,5")
        #expect(harness.takeTrace() == ["P: realMaxBandwidth(Optional(TLCP.RealMaxBandwidth.limited(5.0)))"])
        harness.receive("CONS,5")
        #expect(harness.takeTrace() == [])
        harness.setOptions { $0.requestedMaxBandwidth = .limited(9) }
        harness.receive("REQOK,1")
        _ = harness.takeTrace()
        harness.receive("CONS,5")
        #expect(harness.takeTrace() == ["P: realMaxBandwidth(Optional(TLCP.RealMaxBandwidth.limited(5.0)))"])
        harness.receive("CONS,5")
        #expect(harness.takeTrace() == [])
    }

    @Test func limitInTheHeadOfAConnectionIsNoAnswerToARequestThatIsSentAgain() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("CONS,5")
        harness.setOptions { $0.requestedMaxBandwidth = .limited(9) }
        harness.breakStream(pause: 100)
        _ = harness.takeTrace()
        harness.receive("CONOK,sid,70000,0,*", "CONS,5")
        #expect(harness.takeTrace() == [])
        harness.receive("LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,0,*", "REQOK,2")
        _ = harness.takeTrace()
        harness.receive("CONS,5")
        #expect(harness.takeTrace() == ["P: realMaxBandwidth(Optional(TLCP.RealMaxBandwidth.limited(5.0)))"])
    }

    // MARK: - Heartbeats, retry delay, slowing

    @Test func shorterHeartbeatIntervalAppliesAtOnce() {
        let harness = SessionHarness.streamingOnSocket { $0.reverseHeartbeatInterval = 10 }
        harness.advance(1000)
        harness.setOptions { $0.reverseHeartbeatInterval = 3 }
        #expect(harness.remaining(.heartbeat) == 3000)
        harness.advance(1000)
        harness.setOptions { $0.reverseHeartbeatInterval = 8 }
        #expect(harness.remaining(.heartbeat) == 2000)
    }

    @Test func retryDelaySetDuringAPauseIsUsedForTheNextOne() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        harness.breakStream()
        harness.setOptions { $0.retryDelay = 7 }
        #expect(harness.remaining(.retry) == 4000)
        harness.advance(4000)
        harness.open("WSOK")
        harness.breakStream()
        #expect(harness.remaining(.retry) == 7000)
    }

    @Test func slowingTakesEffectAtTheNextConnectionAttempt() {
        let on = quietStream(slowingEnabled: false)
        on.setOptions { $0.slowingEnabled = true }
        fallBehind(on)
        #expect(on.takeRequests() == [])
        let off = quietStream(slowingEnabled: true)
        off.setOptions { $0.slowingEnabled = false }
        fallBehind(off)
        #expect(off.takeRequests().first?.contains("LS_cause=slow") == true)
    }

    /// A stream without keepalives, so that silence has no effect.
    private func quietStream(slowingEnabled isEnabled: Bool) -> SessionHarness {
        let harness = SessionHarness.opened { $0.slowingEnabled = isEnabled }
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        _ = harness.takeTrace()
        return harness
    }

    private func fallBehind(_ harness: SessionHarness) {
        for seconds in 0...2 {
            harness.receive("SYNC,\(seconds)")
            harness.advance(30_000)
        }
    }

    // MARK: - Options read at their next use

    @Test(arguments: streams)
    func timeoutsOfAStreamAreReadWhenTheirTimersStart(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.setOptions { $0.stalledTimeout = 6 }
        harness.advance(5000)
        #expect(harness.takeTrace() == ["T: liveness 6000"])
        harness.setOptions { $0.reconnectTimeout = 7 }
        harness.advance(6000)
        #expect(harness.takeTrace() == ["S: STALLED", "T: liveness 7000"])
    }

    @Test func contentLengthAppliesToTheNextStream() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.setOptions { $0.contentLength = 1234 }
        harness.receive("LOOP,0")
        #expect(harness.takeRequests().last?.contains("LS_content_length=1234") == true)
    }

    @Test(arguments: streams + polls)
    func firstRetryDelayIsReadWhenTheConnectionBreaks(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.setOptions { $0.firstRetryMaxDelay = 2 }
        harness.breakStream()
        #expect(harness.remaining(.recovery) == 2000)
    }

    @Test func connectTimeoutAppliesToTheNextRequest() {
        let stream = SessionHarness.bound(.httpStreaming)
        stream.setOptions { $0.connectTimeout = .seconds(9) }
        stream.receive("LOOP,0")
        #expect(stream.remaining(.transport) == 9000)
        let poll = SessionHarness.bound(.httpPolling)
        poll.setOptions { $0.connectTimeout = .seconds(9) }
        poll.receive("LOOP,0")
        #expect(poll.remaining(.idle) == 28_000)
    }

    @Test func extraHeadersSetDuringASessionOnAWebSocketWaitForTheNextSession() {
        let harness = SessionHarness.streamingOnSocket()
        harness.setOptions { $0.httpExtraHeaders = ["X-A": "b"] }
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.headers == [:])
        harness.open("WSOK", "CONOK,sid,70000,5000,*", "PROBE")
        harness.breakStream(pause: 100)
        #expect(harness.orders[harness.stream]?.headers == [:])
        harness.receive("CONERR,4,gone")
        harness.advance(4000)
        #expect(harness.orders[harness.stream]?.headers == ["X-A": "b"])
    }

    @Test(arguments: [ForcedTransport.httpStreaming, .httpPolling])
    func extraHeadersApplyToTheNextRequest(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.setOptions { $0.httpExtraHeaders = ["X-A": "b"] }
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.headers == ["X-A": "b"])
        harness.setOptions { $0.httpExtraHeadersOnSessionCreationOnly = true }
        harness.breakStream(pause: 4000)
        #expect(harness.orders[harness.stream]?.headers == [:])
    }

    @Test func earlyOpeningAppliesToTheNextCreation() {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = 0 }
        harness.setOptions { $0.earlyWSOpenEnabled = false }
        harness.breakStream(pause: 100)
        #expect(harness.takeRequests().last?.hasPrefix("POST create_session") == true)
    }

    // MARK: - Recovery deadline

    @Test func recoveryAttemptIsGivenUpWhenTimeIsUp() {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = 2 }
        harness.breakStream(pause: 100)
        _ = harness.takeTrace()
        harness.advance(1899)
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(1)
        #expect(harness.status == .disconnectedWillRetry)
        #expect(harness.takeTrace().first == "close")
        #expect(harness.remaining(.retry) == 2100)
        harness.advance(2100)
        #expect(harness.status == .connecting)
    }

    @Test func recoveryTimeoutSetDuringARecoveryCounts() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 1000)
        harness.setOptions { $0.sessionRecoveryTimeout = 3 }
        harness.advance(1999)
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(1)
        #expect(harness.status == .disconnectedWillRetry)
    }

    @Test func endOfARecoveryIsOneFailureForEachConnection() {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = 2 }
        harness.breakStream(pause: 2000)
        #expect(harness.status == .disconnectedWillRetry)
        #expect(
            harness.legacyEvents.suffix(2) == [
                .connectionFailed(reason: "broken"),
                .connectionFailed(reason: "the session was not recovered in time"),
            ]
        )
        let pausing = SessionHarness.streamingOnSocket()
        pausing.breakStream(pause: 100)
        pausing.breakStream()
        let events = pausing.legacyEvents
        pausing.setOptions { $0.sessionRecoveryTimeout = 1 }
        pausing.advance(900)
        #expect(pausing.status == .disconnectedWillRetry)
        #expect(pausing.legacyEvents == events)
    }

    @Test func successfulRecoveryStopsTheDeadline() {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = 3 }
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,0,*")
        harness.advance(10_000)
        #expect(harness.status == .connectedWSStreaming)
    }

    // MARK: - Legacy events

    @Test(arguments: [41, 48])
    func retryableEndIsReportedToLegacyListeners(code: Int) {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("END,\(code),closed")
        #expect(harness.status == .disconnectedWillRetry)
        #expect(harness.legacyEvents.last == .serverFailed(code: code, message: "closed", isRetried: true))
    }
}
