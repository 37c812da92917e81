internal import SessionCore
internal import Testing

/// Whole conversations, action by action.
@Suite struct GoldenTraceTests {
    @Test func sessionIsCreatedOnAWebSocket() {
        let harness = SessionHarness.connecting()
        #expect(harness.takeTrace() == ["T: transport 4000", "open ws http://server", "S: CONNECTING"])
        harness.open()
        #expect(harness.takeTrace() == ["> wsok", "> create_session|LS_cid=CID&LS_send_sync=false&LS_cause=api"])
        harness.receive("WSOK")
        #expect(harness.takeTrace() == [])
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(
            harness.takeTrace() == [
                "P: sessionId(Optional(\"sid\"))", "P: keepaliveInterval(5.0)", "S: CONNECTED:WS-STREAMING",
                "T: liveness 5000",
            ]
        )
        #expect(harness.remaining(.transport) == nil)
    }

    @Test func neitherWebSocketNorHTTPStreamingWorks() {
        let harness = SessionHarness.connecting()
        _ = harness.takeTrace()
        harness.breakStream()
        #expect(
            harness.takeTrace() == [
                "T: transport 4000",
                "POST create_session LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_cid=CID"
                    + "&LS_cause=ws.unavailable",
            ]
        )
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(
            harness.takeTrace() == [
                "P: sessionId(Optional(\"sid\"))", "T: transport 4000", "S: CONNECTED:STREAM-SENSING",
            ]
        )
        harness.receive("LOOP,0")
        #expect(harness.takeTrace() == ["release", "T: transport 4000", "open ws http://server"])
        harness.advance(4000)
        #expect(
            harness.takeTrace() == [
                "close",
                "POST bind_session LS_session=sid&LS_content_length=50000000&LS_send_sync=false"
                    + "&LS_cause=ws.unavailable",
                "T: transport 4000",
            ]
        )
        harness.advance(4000)
        #expect(
            harness.takeTrace() == [
                "POST control&LS_session=sid LS_reqId=1&LS_op=force_rebind&LS_cause=http.streaming.unavailable",
                "T: control 4000", "T: transport 4000",
            ]
        )
        harness.respond("REQOK,1")
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(
            harness.takeTrace() == [
                "P: keepaliveInterval(5.0)", "S: CONNECTED:HTTP-STREAMING", "T: liveness 5000",
            ]
        )
        harness.receive("LOOP,0")
        #expect(
            harness.takeTrace() == [
                "release", "T: idle 23000",
                "POST bind_session LS_session=sid&LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000"
                    + "&LS_cause=http.loop",
            ]
        )
        harness.receive("CONOK,sid,70000,19000,*")
        #expect(harness.takeTrace() == ["S: CONNECTED:HTTP-POLLING"])
    }

    @Test func sessionIsRecoveredAfterAWebSocketError() {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream()
        #expect(
            harness.takeTrace() == [
                "S: DISCONNECTED:TRYING-RECOVERY", "T: recovery 100", "T: recoveryDeadline 15000",
            ]
        )
        harness.advance(100)
        #expect(
            harness.takeTrace() == [
                "POST bind_session LS_session=sid&LS_recovery_from=0&LS_polling=true&LS_polling_millis=0"
                    + "&LS_idle_millis=0&LS_cause=ws.error",
                "T: transport 4000",
            ]
        )
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(harness.takeTrace() == [])
        harness.receive("LOOP,0")
        #expect(harness.takeTrace() == ["release", "T: transport 4000", "open ws http://server"])
        harness.open()
        #expect(
            harness.takeTrace() == [
                "> wsok",
                "> bind_session|LS_session=sid&LS_keepalive_millis=5000&LS_send_sync=false&LS_cause=recovery.loop",
            ]
        )
        harness.receive("WSOK", "CONOK,sid,70000,5000,*")
        #expect(harness.takeTrace() == ["S: CONNECTED:WS-STREAMING", "T: liveness 5000"])
    }

    @Test func recoveryIsGivenUpAtItsDeadline() {
        let harness = SessionHarness.streamingOnSocket {
            $0.sessionRecoveryTimeout = 7
            $0.firstRetryMaxDelay = 0.1
        }
        harness.random = 0
        harness.breakStream(pause: 0)
        harness.advance(4000)
        #expect(harness.takeRequests().map { $0.hasSuffix("LS_cause=recovery.error") } == [false, true])
        harness.random = 0.999_999
        // Official clients let the second attempt run until 8000; here the recovery timeout limits it as well.
        harness.advance(2999)
        #expect(harness.takeTrace() == [])
        harness.advance(1)
        #expect(
            harness.takeTrace() == [
                "close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 1000",
            ]
        )
        // Official clients create the next session at once; here it keeps what is left of the retry delay.
        harness.advance(1000)
        #expect(harness.takeStatuses() == ["S: CONNECTING"])
        harness.open()
        #expect(
            harness.takeTrace() == [
                "> wsok",
                "> create_session|LS_keepalive_millis=5000&LS_cid=CID&LS_old_session=sid&LS_send_sync=false"
                    + "&LS_cause=recovery.timeout",
            ]
        )
    }

    @Test(arguments: [15.0, 0])
    func silentStreamStallsAndIsGivenUp(sessionRecoveryTimeout: Double) {
        let harness = SessionHarness.streamingOnSocket { $0.sessionRecoveryTimeout = sessionRecoveryTimeout }
        harness.advance(5000)
        #expect(harness.takeTrace() == ["T: liveness 2000"])
        harness.advance(2000)
        #expect(harness.takeTrace() == ["S: STALLED", "T: liveness 3000"])
        harness.advance(3000)
        if sessionRecoveryTimeout > 0 {
            #expect(
                harness.takeTrace() == [
                    "close", "S: DISCONNECTED:TRYING-RECOVERY", "T: recovery 100", "T: recoveryDeadline 15000",
                ]
            )
            harness.advance(100)
            #expect(harness.takeRequests()[0].hasSuffix("LS_cause=ws.stalled"))
        } else {
            #expect(
                harness.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 100"]
            )
            harness.advance(100)
            harness.open()
            #expect(
                harness.takeRequests().last
                    == "> create_session|LS_keepalive_millis=5000&LS_cid=CID&LS_old_session=sid&LS_send_sync=false"
                    + "&LS_cause=ws.stalled"
            )
        }
    }

    @Test func retryDelayCountsFromTheStartOfTheAttempt() {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        harness.advance(500)
        _ = harness.takeTrace()
        harness.breakStream()
        #expect(harness.takeTrace() == ["S: DISCONNECTED:WILL-RETRY", "T: retry 3500"])
    }

    @Test func slowReaderIsMovedToPolling() {
        let harness = SessionHarness.opened { $0.slowingEnabled = true }
        #expect(harness.takeRequests().last == "> create_session|LS_cid=CID&LS_cause=api")
        harness.receive("WSOK", "CONOK,sid,70000,0,*", "SYNC,0")
        harness.advance(30_000)
        harness.receive("SYNC,1")
        harness.advance(30_000)
        _ = harness.takeTrace()
        harness.receive("SYNC,2")
        #expect(
            harness.takeTrace() == ["> control|LS_reqId=1&LS_op=force_rebind&LS_close_socket=true&LS_cause=slow"]
        )
        harness.receive("LOOP,0")
        #expect(harness.takeTrace() == ["close", "T: transport 4000", "open ws http://server"])
        harness.open()
        #expect(harness.takeTrace() == ["> wsok"])
        harness.receive("WSOK")
        #expect(
            harness.takeTrace() == [
                "T: idle 23000",
                "> bind_session|LS_session=sid&LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000"
                    + "&LS_cause=ws.loop",
            ]
        )
        harness.receive("CONOK,sid,70000,19000,*")
        #expect(harness.takeTrace() == ["S: CONNECTED:WS-POLLING"])
    }

    @Test func heartbeatsGoOnTheSocket() {
        let harness = SessionHarness.opened { $0.reverseHeartbeatInterval = 10 }
        #expect(
            harness.takeRequests().last
                == "> create_session|LS_inactivity_millis=10000&LS_cid=CID&LS_send_sync=false&LS_cause=api"
        )
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        _ = harness.takeTrace()
        harness.advance(10_000)
        #expect(harness.takeTrace() == ["> heartbeat||", "T: heartbeat 10000"])
    }

    @Test func heartbeatsGoByRequestsOfTheirOwn() {
        let harness = SessionHarness.bound(.httpPolling) { $0.reverseHeartbeatInterval = 10 }
        harness.advance(10_000)
        #expect(harness.takeRequests() == ["POST heartbeat&LS_session=sid |"])
    }

    @Test func heartbeatsGoBetweenThePollsOnASocket() {
        let harness = SessionHarness.bound(.wsPolling) { $0.reverseHeartbeatInterval = 10 }
        harness.advance(9999)
        #expect(harness.takeRequests() == [])
        harness.receive("LOOP,0")
        _ = harness.takeRequests()
        harness.advance(1)
        #expect(harness.takeRequests() == ["> heartbeat||"])
        harness.receive("CONOK,sid,70000,19000,*", "LOOP,1000")
        harness.advance(10_000)
        #expect(harness.takeRequests().contains("> heartbeat||"))
    }

    @Test func disconnectionDestroysTheSessionOnTheSocket() {
        let harness = SessionHarness.streamingOnSocket()
        harness.disconnect()
        #expect(
            harness.takeTrace() == [
                "> control|LS_reqId=1&LS_op=destroy&LS_close_socket=true&LS_cause=api", "close", "S: DISCONNECTED",
                "P: sessionId(nil)",
            ]
        )
        #expect(harness.timers.isEmpty)
    }
}
