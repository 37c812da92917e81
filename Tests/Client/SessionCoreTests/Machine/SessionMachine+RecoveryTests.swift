internal import SessionCore
internal import Testing

/// Recovery: counting, repetition, and its end.
@Suite struct SessionMachineRecoveryTests {
    /// Streaming, with one subscription and two updates: four data notifications.
    private static func busy() -> SessionHarness {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "i")
        harness.receive("SUBOK,1,1,1", "CONF,1,unlimited,filtered", "U,1,1,a", "U,1,1,b")
        _ = harness.takeTrace()
        return harness
    }

    private static func recovering() -> SessionHarness {
        let harness = busy()
        harness.breakStream(pause: 100)
        return harness
    }

    @Test func recoveryNamesWhatWasReceived() {
        let harness = Self.recovering()
        #expect(harness.takeRequests()[0].contains("LS_recovery_from=4"))
    }

    @Test func repeatedNotificationsAreSkipped() {
        let harness = Self.recovering()
        _ = harness.takeTrace()
        harness.receive("CONOK,sid,70000,0,*", "PROG,2", "U,1,1,a", "PROBE", "U,1,1,b", "U,1,1,c", "LOOP,0")
        #expect(harness.takeConversation() == ["sub1 update c", "release", "open ws http://server"])
    }

    @Test func wholeHistoryCanBeRepeated() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "i", mode: .distinct)
        let history = [
            "SUBOK,1,1,1", "U,1,1,a", "EOS,1,1", "CS,1,1", "OV,1,1,33", "CONF,1,100,filtered", "UNSUB,1",
        ]
        for line in history { harness.receive(line) }
        harness.breakStream(pause: 100)
        #expect(harness.takeRequests().last?.contains("LS_recovery_from=7") == true)
        harness.receive("CONOK,sid,70000,0,*", "PROG,0")
        for line in history { harness.receive(line) }
        #expect(harness.takeTrace() == [])
    }

    @Test func skippingContinuesAcrossAPlainBind() {
        let harness = Self.recovering()
        harness.receive("CONOK,sid,70000,0,*", "PROG,2", "U,1,1,a", "LOOP,0")
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,5000,*", "U,1,1,b", "U,1,1,c")
        #expect(harness.takeConversation() == ["S: CONNECTED:WS-STREAMING", "sub1 update c"])
    }

    @Test func connectionThatIsStableByItsAgeEndsTheDoubt() {
        let harness = SessionHarness.connecting()
        for (age, pause) in [(0, 4000), (4500, 100), (0, 4000)] {
            harness.open("WSOK", "CONOK,sid,70000,5000,*")
            harness.advance(age)
            harness.breakStream()
            harness.advance(pause)
            harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        }
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test func interruptedReplayIsRequestedAgain() {
        let harness = Self.recovering()
        harness.receive("CONOK,sid,70000,0,*", "PROG,0", "U,1,1,a")
        harness.breakStream(pause: 4000)
        #expect(harness.takeRequests().last?.contains("LS_recovery_from=4") == true)
        harness.receive("CONOK,sid,70000,0,*", "PROG,4", "U,1,1,e")
        #expect(harness.takeConversation() == ["sub1 update e"])
    }

    @Test func gapInTheFlowBringsANewSession() {
        let harness = Self.recovering()
        _ = harness.takeTrace()
        harness.receive("CONOK,sid,70000,0,*", "PROG,5")
        #expect(
            harness.takeTrace() == [
                "note progressMismatch(received: 5, expected: 4)", "close", "S: DISCONNECTED:WILL-RETRY",
                "P: sessionId(nil)", "sub1 unsubscribed", "T: retry 4000",
            ]
        )
        harness.advance(4000)
        harness.open()
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=prog.mismatch.5.4") == true)
    }

    @Test func progressOutsideARecoveryMustBeExact() {
        let exact = Self.busy()
        exact.receive("PROG,4")
        #expect(exact.takeTrace() == [])
        let wrong = Self.busy()
        wrong.receive("PROG,3")
        #expect(wrong.status == .disconnectedWillRetry)
        #expect(wrong.remaining(.retry) == 100)
    }

    @Test func unknownSubscriptionsCountToo() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("U,77,1,x", "UNSUB,78", "MSGDONE,*,5,", "MPNOK,3,abc", "PROG,4")
        #expect(harness.status == .connectedWSStreaming)
    }

    @Test func countsBeginAnewWithEachSession() {
        let harness = Self.busy()
        harness.receive("END,48,refresh")
        harness.advance(100)
        harness.open("WSOK", "CONOK,sid2,70000,5000,*", "PROG,0")
        #expect(harness.status == .connectedWSStreaming)
    }

    @Test func attemptsFollowEachOtherUntilTheDeadline() {
        let harness = SessionHarness.streamingOnSocket()
        harness.random = 0
        harness.breakStream(pause: 14_999)
        let causes = harness.takeRequests().map { $0.split(separator: "LS_cause=").last ?? "" }
        #expect(causes == ["ws.error", "recovery.error", "recovery.error", "recovery.error"])
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(1)
        #expect(harness.status == .disconnectedWillRetry)
        // The last attempt began at 12 s: the new session keeps what is left of its retry delay.
        #expect(harness.remaining(.retry) == 1000)
        harness.advance(1000)
        harness.open()
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=recovery.timeout") == true)
    }

    @Test func failedAttemptWaitsOutTheRetryDelay() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.advance(1000)
        harness.completeStream()
        #expect(harness.remaining(.retry) == 3000)
        #expect(harness.status == .disconnectedTryingRecovery)
    }

    @Test func shortRetryDelayKeepsTheLongerResponseTime() {
        let harness = SessionHarness.streamingOnSocket { $0.retryDelay = 2 }
        harness.breakStream(pause: 100)
        #expect(harness.remaining(.transport) == 4000)
        harness.breakStream()
        #expect(harness.remaining(.retry) == 2000)
    }

    @Test func tinyRetryDelayDoesNotMakeRecoveriesWithoutPauses() {
        let harness = SessionHarness.streamingOnSocket { $0.retryDelay = 1e-9 }
        harness.breakStream(pause: 100)
        harness.breakStream()
        #expect(harness.remaining(.retry) == 100)
    }

    @Test func brokenBindAfterARecoveryBelongsToTheSameInterruption() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.advance(3000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK")
        harness.breakStream()
        #expect(harness.takeStatuses() == ["S: DISCONNECTED:TRYING-RECOVERY"])
        #expect(harness.remaining(.recovery) == 4000)
        #expect(harness.remaining(.recoveryDeadline) == 11_900)
    }

    @Test func bindThatBreaksAfterTheTimeForRecoveryBringsANewSession() {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = 6 }
        harness.breakStream(pause: 3000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*")
        harness.breakStream()
        #expect(harness.status == .disconnectedWillRetry)
        #expect(harness.remaining(.retry) == 4000)
    }

    @Test(arguments: ["PROBE", "U,9,1,x"])
    func interruptionOfAStableConnectionIsANewOne(line: String) {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 3000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*", line)
        harness.advance(1000)
        harness.breakStream()
        #expect(harness.remaining(.recoveryDeadline) == 15_000)
        #expect(harness.remaining(.recovery) == 100)
    }

    @Test func connectionThatLivesForTheRetryDelayIsStable() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        harness.advance(3999)
        let early = SessionHarness()
        early.connect()
        early.open("WSOK", "CONOK,sid,70000,0,*")
        early.advance(3000)
        early.breakStream()
        #expect(early.remaining(.recovery) == 1000)
        harness.advance(1)
        harness.breakStream()
        #expect(harness.remaining(.recovery) == 100)
    }

    @Test func shortPauseIsNotRepeatedWithinTheRetryDelay() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,5000,*", "U,9,1,x")
        harness.breakStream()
        #expect(harness.remaining(.recovery) == 4000)
    }

    @Test func subscriptionsAndMessagesSurviveARecovery() {
        let harness = Self.busy()
        harness.sendMessage(1, "m")
        harness.breakStream()
        harness.sendMessage(2, "n")
        harness.subscribe(2, item: "j")
        harness.advance(100)
        harness.receive("CONOK,sid,70000,0,*", "MSGDONE,seq,1,ok", "LOOP,0")
        #expect(harness.takeConversation().filter { $0.hasPrefix("sub") || $0.hasPrefix("msg") }.count == 1)
        harness.open("WSOK", "CONOK,sid,70000,0,*")
        let frames = harness.takeRequests().suffix(2)
        #expect(frames.first?.contains("LS_subId=2") == true)
        #expect(frames.last?.contains("LS_message=n") == true)
        #expect(frames.last?.contains("LS_message=m") == false)
    }

    @Test func firstRetryIsAShareOfItsMaximum() {
        for (random, delay) in [(0.0, 0), (0.5, 50), (0.999_999, 100)] {
            let harness = SessionHarness.streamingOnSocket()
            harness.random = random
            harness.breakStream()
            #expect(harness.remaining(.recovery) == delay)
        }
    }
}
