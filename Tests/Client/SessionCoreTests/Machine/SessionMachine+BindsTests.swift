internal import SessionCore
internal import Testing

/// Binds on the four transports, polls, rebinds, and switches between transports.
@Suite struct SessionMachineBindsTests {
    @Test func socketThatDoesNotOpenIsDisabledAndTheSessionKept() {
        for isTimeout in [true, false] {
            let harness = SessionHarness.sensing()
            harness.receive("LOOP,0")
            _ = harness.takeTrace()
            if isTimeout { harness.advance(4000) } else { harness.breakStream() }
            let trace = harness.takeConversation()
            #expect(trace.last?.hasPrefix("POST bind_session LS_session=sid&LS_content_length=50000000") == true)
            #expect(trace.last?.hasSuffix("LS_cause=ws.unavailable") == true)
            #expect(harness.status == .connectedStreamSensing)
        }
    }

    @Test func socketThatDoesNotGreetIsDisabledAndTheSessionRecovered() {
        let harness = SessionHarness.sensing()
        harness.receive("LOOP,0")
        harness.open()
        harness.advance(4000)
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(100)
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=ws.unavailable") == true)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
    }

    @Test(arguments: [true, false])
    func socketThatGreetsButDoesNotBindStaysEnabled(isTimeout: Bool) {
        let harness = SessionHarness.sensing()
        harness.receive("LOOP,0")
        harness.open("WSOK")
        if isTimeout { harness.advance(4000) } else { harness.breakStream() }
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(isTimeout ? 0 : 4000)
        #expect(harness.takeRequests().last?.hasSuffix(isTimeout ? "ws.timeout" : "ws.error") == true)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test func socketThatGreetsButEndsTwiceBeforeItBindsIsNotTriedAgainInTheSession() {
        let harness = SessionHarness.sensing()
        for _ in 1...2 {
            harness.receive("LOOP,0")
            #expect(harness.orders[harness.stream]?.kind == .webSocket)
            harness.open("WSOK")
            harness.breakStream(pause: 4000)
            harness.receive("CONOK,sid,70000,0,*")
        }
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
        harness.receive("CONOK,sid,70000,5000,*", "PROBE")
        #expect(harness.status == .connectedHTTPStreaming)
        // The next session tries a WebSocket again.
        harness.receive("END,48,again")
        harness.advance(4000)
        harness.receive("CONOK,sid2,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test(arguments: [true, false])
    func pollingSocketThatDoesNotGreetIsDisabled(opens: Bool) {
        let harness = SessionHarness.sensing { $0.forcedTransport = .wsPolling }
        harness.setOptions { $0.forcedTransport = nil }
        harness.receive("LOOP,0")
        harness.breakStream()
        // Everything on a WebSocket is disabled now: HTTP streaming is next.
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
        let forced = SessionHarness.sensing { $0.forcedTransport = .wsPolling }
        forced.receive("LOOP,0")
        if opens { forced.open() }
        _ = forced.takeTrace()
        forced.breakStream()
        #expect(
            forced.takeConversation() == [
                "note noTransportAdmitted", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)",
            ]
        )
        #expect(forced.remaining(.retry) == 4000)
        forced.advance(4000)
        #expect(forced.status == .connecting)
        forced.receive("CONOK,sid2,70000,0,*", "LOOP,0")
        // All transports are enabled again.
        #expect(forced.orders[forced.stream]?.kind == .webSocket)
    }

    @Test func sessionAfterTheFailureOfTheOnlyTransportTriesThatTransport() {
        let http = SessionHarness.sensing {
            $0.sessionRecoveryTimeout = 0
            $0.forcedTransport = .httpStreaming
        }
        http.receive("LOOP,0")
        _ = http.takeTrace()
        http.breakStream()
        #expect(
            http.takeConversation() == ["note noTransportAdmitted", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)"]
        )
        #expect(http.remaining(.retry) == 4000)
        http.advance(4000)
        http.receive("CONOK,sid2,70000,0,*", "LOOP,0")
        #expect(http.takeRequests().last?.contains("LS_session=sid2&LS_content_length") == true)
        let socket = SessionHarness.sensing {
            $0.sessionRecoveryTimeout = 0
            $0.forcedTransport = .wsStreaming
        }
        socket.receive("LOOP,0")
        socket.open()
        socket.breakStream()
        #expect(socket.status == .disconnectedWillRetry)
        socket.advance(4000)
        #expect(socket.orders[socket.stream]?.kind == .webSocket)
    }

    @Test func forcedPollingThatStaysUnansweredIsRecovered() {
        let harness = SessionHarness.bound(.http)
        harness.receive("LOOP,0")
        harness.advance(4000)
        harness.respond("REQOK,1")
        #expect(harness.status == .connectedHTTPStreaming)
        harness.advance(4000)
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(100)
        #expect(harness.takeRequests().last?.hasSuffix("LS_cause=http.timeout") == true)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(
            harness.takeRequests().last?.contains("LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000") == true
        )
    }

    @Test(arguments: [true, false])
    func streamThatEndsWithoutALineIsNotTriedAgainInTheSession(isComplete: Bool) {
        let harness = SessionHarness.bound(.http)
        harness.receive("LOOP,0")
        harness.close(harness.stream, isComplete ? .completed : .failed(reason: "broken"))
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(4000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpPoll)
        harness.receive("CONOK,sid,70000,19000,*")
        #expect(harness.status == .connectedHTTPPolling)
        // The next session tries all transports.
        harness.receive("END,48,again")
        harness.advance(4000)
        harness.receive("CONOK,sid2,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
    }

    @Test func refusedStreamIsReplacedByPollsAtOnce() {
        let harness = SessionHarness.sensing()
        harness.receive("LOOP,0")
        harness.breakStream()
        _ = harness.takeTrace()
        harness.close(harness.stream, .refused(reason: "HTTP status 403"))
        #expect(
            harness.takeConversation() == [
                "POST bind_session LS_session=sid&LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000"
                    + "&LS_cause=http.streaming.unavailable"
            ]
        )
        harness.receive("CONOK,sid,70000,19000,*")
        #expect(harness.takeStatuses() == ["S: CONNECTED:HTTP-POLLING"])
    }

    @Test func refusedStreamOfASessionThatWasNotStableIsNotTriedInTheNext() {
        let harness = SessionHarness.sensing { $0.sessionRecoveryTimeout = 0 }
        harness.receive("LOOP,0")
        harness.breakStream()
        harness.completeStream()
        #expect(harness.status == .disconnectedWillRetry)
        harness.advance(4000)
        harness.receive("CONOK,sid2,70000,0,*", "LOOP,0")
        // The WebSocket stays disabled as well.
        #expect(
            harness.takeRequests().last?.contains("LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000") == true
        )
    }

    @Test(arguments: [ForcedTransport.http, .httpStreaming])
    func streamsThatAreSilentBehindTheirHeadAreReplacedByPolls(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        func bindAfterSilence() -> String {
            harness.advance(10_000)
            #expect(harness.status == .disconnectedTryingRecovery)
            harness.advance(100)
            _ = harness.takeTrace()
            harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
            let request = harness.takeRequests().last ?? ""
            harness.receive("CONOK,sid,70000,5000,*")
            return request.contains("LS_content_length") ? "stream" : "poll"
        }
        // The first stream has carried a keepalive.
        #expect(bindAfterSilence() == "stream")
        #expect(bindAfterSilence() == "stream")
        #expect(bindAfterSilence() == (forced == .http ? "poll" : "stream"))
        #expect(harness.status == (forced == .http ? .connectedHTTPPolling : .connectedHTTPStreaming))
    }

    @Test func unreachableServerSaysNothingAboutStreaming() {
        let harness = SessionHarness.bound(.http)
        harness.receive("LOOP,0")
        harness.close(harness.stream, .unreachable(reason: "no route"))
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(4000)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
    }

    @Test func pollsThatEndAtOnceWithoutAnEventKeepTheRetryDelay() {
        let harness = SessionHarness.bound(.httpPolling)
        for _ in 1...5 {
            harness.receive("LOOP,0")
            #expect(harness.remaining(.polling) == nil)
            harness.receive("CONOK,sid,70000,19000,*")
        }
        harness.receive("LOOP,0")
        #expect(harness.remaining(.polling) == 4000)
        harness.advance(4000)
        harness.receive("CONOK,sid,70000,19000,*", "LOOP,0")
        #expect(harness.remaining(.polling) == 4000)
        harness.advance(4000)
        // An event ends it.
        harness.receive("CONOK,sid,70000,19000,*", "U,9,1,x", "LOOP,0")
        #expect(harness.remaining(.polling) == nil)
        #expect(harness.status == .connectedHTTPPolling)
    }

    @Test func streamsThatEndAtOnceWithoutAnEventKeepTheRetryDelay() {
        let harness = SessionHarness.bound(.httpStreaming)
        for _ in 1...5 { harness.receive("LOOP,0", "CONOK,sid,70000,5000,*") }
        _ = harness.takeTrace()
        harness.receive("LOOP,0")
        #expect(harness.takeTrace() == ["release", "T: polling 4000"])
        harness.advance(4000)
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(harness.status == .connectedHTTPStreaming)
        let paused = SessionHarness.bound(.wsStreaming)
        for _ in 1...5 {
            paused.receive("LOOP,0")
            paused.open("WSOK", "CONOK,sid,70000,5000,*")
        }
        paused.receive("LOOP,0")
        paused.subscribe(1, item: "i")
        #expect(paused.takeRequests().last?.contains("LS_subId") == false)
        paused.disconnect()
        #expect(paused.timers.isEmpty)
    }

    @Test(arguments: [ForcedTransport.httpPolling, .wsPolling, .httpStreaming])
    func bindsThatEndAtOnceWithAnEventAreBoundedInASecond(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        _ = harness.takeTrace()
        for _ in 1...1_000 {
            harness.receive("CONOK,sid,70000,19000,*", "U,9,1,x", "LOOP,0")
            harness.advance(1)
        }
        let binds = harness.takeRequests().filter { $0.contains("bind_session") }
        #expect((190...210).contains(binds.count))
    }

    @Test func otherTransportsAreNotTriedWithoutAPauseForOtherClientAddresses() {
        let harness = SessionHarness.sensing()
        harness.receive("CLIENTIP,10.0.0.0", "LOOP,0")
        harness.breakStream()
        harness.close(harness.stream, .refused(reason: "HTTP status 403"))
        _ = harness.takeTrace()
        for number in 1...1_000 {
            harness.receive("CONOK,sid,70000,19000,*", "CLIENTIP,10.0.0.\(number)", "LOOP,0")
            if harness.orders[harness.stream]?.kind == .webSocket { harness.breakStream() }
            if harness.orders[harness.stream]?.kind == .httpStream {
                harness.close(harness.stream, .refused(reason: "HTTP status 403"))
            }
            harness.advance(1)
        }
        let polls = harness.takeRequests().filter { $0.contains("LS_polling=true") }
        #expect((100...210).contains(polls.count))
    }

    @Test func pollsWithEventsAreNotDelayed() {
        let harness = SessionHarness.bound(.httpPolling)
        for _ in 1...500 {
            harness.receive("CONOK,sid,70000,19000,*", "U,9,1,x", "LOOP,0")
            #expect(harness.remaining(.polling) == nil)
            harness.advance(10)
        }
    }

    @Test func slowPollsOfTheServerAreNotDelayed() {
        let harness = SessionHarness.bound(.httpPolling)
        for _ in 1...20 {
            harness.receive("LOOP,200")
            #expect(harness.remaining(.polling) == 200)
            harness.advance(200)
            harness.receive("CONOK,sid,70000,19000,*")
        }
    }

    @Test func loopOfAStreamKeepsTheStatusAndBindsAgain() {
        let http = SessionHarness.bound(.httpStreaming)
        http.receive("LOOP,7000")
        #expect(
            http.takeTrace() == [
                "release",
                "POST bind_session LS_session=sid&LS_content_length=50000000&LS_keepalive_millis=5000"
                    + "&LS_send_sync=false&LS_cause=http.loop",
                "T: transport 4000",
            ]
        )
        http.receive("CONOK,sid,70000,5000,*")
        #expect(http.takeTrace() == ["T: liveness 5000"])
        let socket = SessionHarness.streamingOnSocket()
        socket.receive("LOOP,0")
        #expect(socket.takeTrace() == ["close", "T: transport 4000", "open ws http://server"])
        socket.open()
        #expect(socket.takeRequests().last?.hasSuffix("LS_cause=ws.loop") == true)
        #expect(socket.status == .connectedWSStreaming)
    }

    // MARK: - Polls

    @Test func httpPollsFollowEachOther() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.receive("LOOP,0")
        #expect(
            harness.takeTrace() == [
                "release", "T: idle 23000",
                "POST bind_session LS_session=sid&LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000",
            ]
        )
        harness.receive("CONOK,sid,70000,15000,*")
        #expect(harness.takeTrace() == ["P: idleTimeout(15.0)"])
        harness.receive("LOOP,2000")
        #expect(harness.takeTrace() == ["P: pollingInterval(2.0)", "release", "T: polling 2000"])
        harness.advance(2000)
        #expect(
            harness.takeTrace() == [
                "T: idle 19000",
                "POST bind_session LS_session=sid&LS_polling=true&LS_polling_millis=2000&LS_idle_millis=15000",
            ]
        )
    }

    @Test func socketPollsFollowEachOtherOnOneSocket() {
        let harness = SessionHarness.bound(.wsPolling)
        harness.receive("LOOP,0")
        #expect(
            harness.takeTrace() == [
                "T: idle 23000", "> bind_session|LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000",
            ]
        )
        harness.receive("CONOK,sid,70000,19000,*", "LOOP,500")
        #expect(harness.takeTrace() == ["P: pollingInterval(0.5)", "T: polling 500"])
        harness.subscribe(1, item: "i")
        #expect(harness.takeRequests().count == 1)
        harness.advance(500)
        #expect(
            harness.takeRequests() == ["> bind_session|LS_polling=true&LS_polling_millis=500&LS_idle_millis=19000"]
        )
    }

    @Test func socketClosedBetweenPollsIsAnInterruption() {
        let harness = SessionHarness.bound(.wsPolling)
        harness.receive("LOOP,1000")
        harness.breakStream()
        #expect(harness.status == .disconnectedTryingRecovery)
        #expect(harness.remaining(.polling) == nil)
    }

    @Test(arguments: [ForcedTransport.wsPolling, .httpPolling])
    func pollThatStaysUnansweredIsAnInterruption(forced: ForcedTransport) {
        for answers in [true, false] {
            let harness = SessionHarness.bound(forced)
            harness.receive("LOOP,0")
            if answers { harness.receive("CONOK,sid,70000,19000,*", "NOOP,x") }
            harness.advance(22_999)
            #expect(harness.status.isConnected)
            harness.advance(1)
            #expect(harness.status == .disconnectedTryingRecovery)
            harness.advance(100)
            let prefix = forced == .wsPolling ? "ws" : "http"
            #expect(harness.takeRequests().last?.hasSuffix("LS_cause=\(prefix).idle.timeout") == true)
        }
    }

    @Test func pollsAreNotSupervisedByKeepalive() {
        let harness = SessionHarness.bound(.httpPolling)
        #expect(harness.remaining(.liveness) == nil)
    }

    // MARK: - Switches

    private static let everyBond: [ForcedTransport] = [.wsStreaming, .httpStreaming, .wsPolling, .httpPolling]

    @Test(arguments: everyBond, everyBond)
    func transportCanBeSwitched(from: ForcedTransport, to: ForcedTransport) {
        let harness = SessionHarness.bound(from)
        let usesSocket = from == .wsStreaming || from == .wsPolling
        harness.setOptions { $0.forcedTransport = to }
        guard from != to else {
            #expect(harness.takeTrace() == [])
            return
        }
        let request = harness.takeRequests().first ?? ""
        #expect(request.contains("LS_reqId=1&LS_op=force_rebind"))
        #expect(request.contains("LS_close_socket=true") == usesSocket)
        if usesSocket { harness.receive("REQOK,1") } else { harness.respond("REQOK,1") }
        harness.receive("LOOP,0")
        if to == .wsStreaming || to == .wsPolling {
            harness.open("WSOK")
        }
        #expect(harness.takeRequests().last?.contains("LS_cause=") == (from != .httpPolling))
        let kind = harness.orders[harness.stream]?.kind
        harness.receive("CONOK,sid,70000,5000,*")
        #expect(harness.status.rawValue == "CONNECTED:\(to.rawValue)")
        #expect(
            kind
                == (to == .httpStreaming ? .httpStream : to == .httpPolling ? .httpPoll : .webSocket)
        )
        #expect(harness.openConnections == [harness.stream])
    }

    @Test func refusedSwitchIsGivenUp() {
        let harness = SessionHarness.streamingOnSocket()
        harness.setOptions { $0.forcedTransport = .http }
        harness.receive("REQERR,1,68,no")
        _ = harness.takeTrace()
        harness.advance(4000)
        #expect(harness.takeRequests() == [])
        harness.setOptions { $0.forcedTransport = .httpPolling }
        #expect(harness.takeRequests().count == 1)
    }

    @Test func onlyTheLatestTransportCounts() {
        let harness = SessionHarness.streamingOnSocket()
        harness.setOptions { $0.forcedTransport = .httpStreaming }
        harness.setOptions { $0.forcedTransport = .httpPolling }
        #expect(harness.takeRequests().count == 1)
        harness.receive("LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpPoll)
    }

    /// The server closes the WebSocket on which the rebind was requested.
    @Test func transportThatIsSetBackIsBoundOnANewConnection() {
        let harness = SessionHarness.bound(.wsPolling)
        let former = harness.stream
        harness.setOptions { $0.forcedTransport = .httpStreaming }
        harness.setOptions { $0.forcedTransport = .wsPolling }
        #expect(harness.takeRequests().count == 1)
        harness.receive("REQOK,1", "LOOP,0")
        #expect(harness.stream != former)
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
        #expect(harness.openConnections == [harness.stream])
        harness.open("WSOK", "CONOK,sid,70000,19000,*")
        #expect(harness.status == .connectedWSPolling)
        #expect(harness.takeRequests().filter { $0.contains("force_rebind") } == [])
        // A refused rebind leaves the WebSocket open.
        harness.setOptions { $0.forcedTransport = .httpStreaming }
        harness.setOptions { $0.forcedTransport = .wsPolling }
        let last = harness.stream
        harness.receive("REQERR,2,68,no", "LOOP,0")
        #expect(harness.stream == last)
    }

    @Test func switchRequestedDuringABindFollowsIt() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("LOOP,0")
        harness.open()
        harness.setOptions { $0.forcedTransport = .httpPolling }
        #expect(harness.takeRequests().filter { $0.contains("force_rebind") } == [])
        harness.receive("WSOK", "CONOK,sid,70000,5000,*")
        #expect(harness.takeRequests().filter { $0.contains("force_rebind") }.count == 1)
    }

    @Test func switchDuringPreflightOrRecoveryNeedsNoRequest() {
        let sensing = SessionHarness.sensing()
        sensing.setOptions { $0.forcedTransport = .httpPolling }
        #expect(sensing.takeRequests() == [])
        sensing.receive("LOOP,0")
        #expect(sensing.orders[sensing.stream]?.kind == .httpPoll)
        let recovering = SessionHarness.streamingOnSocket()
        recovering.breakStream(pause: 100)
        _ = recovering.takeTrace()
        recovering.setOptions { $0.forcedTransport = .httpStreaming }
        #expect(recovering.takeRequests() == [])
        recovering.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(recovering.orders[recovering.stream]?.kind == .httpStream)
    }

    @Test(arguments: [ForcedTransport.wsPolling, .httpPolling])
    func transportSetBetweenTwoPollsIsUsedAfterThePause(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.receive("LOOP,2000")
        _ = harness.takeTrace()
        // The session is not bound: a rebind cannot be asked for.
        harness.setOptions { $0.forcedTransport = .httpStreaming }
        #expect(harness.takeRequests() == [])
        harness.advance(2000)
        let cause = forced == .wsPolling ? "&LS_cause=ws.loop" : "&LS_send_sync=false"
        #expect(harness.takeRequests().last?.hasSuffix(cause) == true)
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
        #expect(harness.openConnections == [harness.stream])
    }

    @Test func anotherClientAddressAdmitsAllTransports() {
        let harness = SessionHarness.sensing()
        harness.receive("CLIENTIP,10.0.0.1", "LOOP,0")
        harness.breakStream()
        harness.receive("CONOK,sid,70000,5000,*", "CLIENTIP,10.0.0.1", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .httpStream)
        harness.receive("CONOK,sid,70000,5000,*", "CLIENTIP,10.0.0.2", "LOOP,0")
        #expect(harness.orders[harness.stream]?.kind == .webSocket)
    }

    @Test func slowReaderWithoutPollingContinuesToStream() {
        let harness = SessionHarness.bound(.wsStreaming) { $0.slowingEnabled = true }
        harness.receive("SYNC,0")
        for _ in 1...5 {
            harness.advance(4000)
            harness.receive("SYNC,0")
        }
        #expect(harness.takeRequests() == [])
        #expect(harness.status == .connectedWSStreaming)
    }
}
