internal import SessionCore
internal import Testing

/// Every legal change of status, with its cause.
@Suite struct StatusTransitionTests {
    private static let everyBond: [ForcedTransport] = [.wsStreaming, .httpStreaming, .wsPolling, .httpPolling]

    private static func statusText(_ forced: ForcedTransport) -> String {
        forced == .wsStreaming || forced == .httpStreaming || forced == .wsPolling || forced == .httpPolling
            ? "CONNECTED:\(forced.rawValue)" : ""
    }

    @Test func connectLeavesDisconnectedOnly() {
        let harness = SessionHarness.connecting()
        #expect(harness.status == .connecting)
        _ = harness.takeTrace()
        harness.connect()
        #expect(harness.takeTrace() == [])
        harness.open("WSOK", "CONOK,sid,70000,5000,*")
        _ = harness.takeTrace()
        harness.connect()
        #expect(harness.takeTrace() == [])
    }

    @Test func connectWithoutAddressDoesNothing() {
        let harness = SessionHarness(details: { $0.serverAddress = nil })
        harness.connect()
        #expect(harness.takeTrace() == [])
        #expect(harness.status == .disconnected)
    }

    @Test func unusableWebSocketAtCreationChangesNoStatus() {
        let harness = SessionHarness.opened()
        _ = harness.takeTrace()
        harness.advance(4000)
        #expect(harness.takeStatuses() == [])
        #expect(harness.status == .connecting)
    }

    @Test(arguments: [4, 6, 20, 40, 41, 48])
    func creationRefusedForNowIsRetried(code: Int) {
        let harness = SessionHarness.connecting()
        harness.breakStream(pause: 1000)
        _ = harness.takeTrace()
        harness.receive("CONERR,\(code),later")
        #expect(harness.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY", "T: retry 3000"])
        harness.advance(3000)
        #expect(harness.takeRequests()[0].hasSuffix("LS_cause=http.conerr.\(code)"))
        #expect(harness.status == .connecting)
    }

    @Test(arguments: [-3, 0, 1, 2, 3, 7, 8, 9, 10, 11, 21, 60, 64, 66, 67, 68, 69, 70, 71, 100])
    func creationRefusedForGoodDisconnects(code: Int) {
        let harness = SessionHarness.opened()
        harness.receive("WSOK")
        _ = harness.takeTrace()
        harness.receive("CONERR,\(code),no")
        #expect(harness.takeTrace() == ["close", "S: DISCONNECTED", "error \(code) no"])
        #expect(harness.timers.isEmpty)
        #expect(harness.openConnections.isEmpty)
    }

    @Test(arguments: everyBond)
    func sensingEndsInTheChosenTransport(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        #expect(harness.status.rawValue == Self.statusText(forced))
        #expect(harness.status.isConnected)
    }

    @Test(arguments: everyBond)
    func brokenConnectionIsRecoveredOrReplaced(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.breakStream()
        #expect(
            harness.takeTrace() == [
                "S: DISCONNECTED:TRYING-RECOVERY", "T: recovery 100", "T: recoveryDeadline 15000",
            ]
        )
        let other = SessionHarness.bound(forced) { $0.sessionRecoveryTimeout = 0 }
        other.advance(1000)
        other.breakStream()
        let delay = forced == .httpPolling ? 3000 : 100
        #expect(
            other.takeTrace() == ["S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry \(delay)"]
        )
    }

    @Test(arguments: everyBond)
    func responseThatEndsWithoutLoopCountsAsBroken(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.completeStream()
        #expect(harness.status == .disconnectedTryingRecovery)
    }

    @Test func brokenPreflightIsRecoveredOrReplaced() {
        let harness = SessionHarness.sensing()
        harness.completeStream()
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(4000)
        #expect(harness.takeRequests()[0].hasSuffix("LS_cause=http.error"))
        let other = SessionHarness.sensing { $0.sessionRecoveryTimeout = 0 }
        other.advance(4000)
        #expect(
            other.takeTrace().prefix(4) == ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 0"]
        )
        #expect(other.status == .connecting)
    }

    @Test(arguments: everyBond)
    func disconnectLeavesEveryBond(forced: ForcedTransport) {
        let harness = SessionHarness.bound(forced)
        harness.disconnect()
        let trace = harness.takeTrace()
        let destroys = trace.first == "> control|LS_reqId=1&LS_op=destroy&LS_close_socket=true&LS_cause=api"
        #expect(destroys == (forced == .wsStreaming || forced == .wsPolling))
        #expect(trace.suffix(3) == ["close", "S: DISCONNECTED", "P: sessionId(nil)"])
        #expect(harness.timers.isEmpty)
        #expect(harness.openConnections.isEmpty)
        #expect(harness.legacyEvents.last == .closed)
    }

    @Test(arguments: [ForcedTransport.wsStreaming, .wsPolling], [[], ["WSOK"]])
    func disconnectDestroysTheSessionOnceItsBindWasSent(forced: ForcedTransport, lines: [String]) {
        let harness = SessionHarness.sensing {
            $0.forcedTransport = forced
            $0.earlyWSOpenEnabled = false
        }
        harness.receive("LOOP,0")
        harness.open()
        for line in lines { harness.receive(line) }
        let isBindSent = harness.takeRequests().contains { $0.contains("LS_session=sid") }
        harness.disconnect()
        let destroys = ["> control|LS_reqId=1&LS_op=destroy&LS_close_socket=true&LS_cause=api"]
        #expect(harness.takeRequests() == (isBindSent ? destroys : []))
        #expect(isBindSent == (forced == .wsStreaming || lines == ["WSOK"]))
    }

    @Test func disconnectWhileAWebSocketOpensSendsNothing() {
        let harness = SessionHarness.sensing()
        harness.receive("LOOP,0")
        _ = harness.takeTrace()
        harness.disconnect()
        #expect(harness.takeTrace() == ["close", "S: DISCONNECTED", "P: sessionId(nil)"])
    }

    @Test func disconnectLeavesCreationAndPauses() {
        let harness = SessionHarness.connecting()
        harness.disconnect()
        #expect(harness.takeStatuses().last == "S: DISCONNECTED")
        harness.connect()
        harness.open("WSOK")
        harness.breakStream()
        #expect(harness.status == .disconnectedWillRetry)
        harness.disconnect()
        #expect(harness.takeStatuses().last == "S: DISCONNECTED")
        let sensing = SessionHarness.sensing()
        sensing.disconnect()
        let recovering = SessionHarness.streamingOnSocket()
        recovering.breakStream()
        recovering.disconnect()
        recovering.connect()
        recovering.open()
        // The old session is removed.
        #expect(
            recovering.takeRequests().last
                == "> create_session|LS_keepalive_millis=5000&LS_cid=CID&LS_send_sync=false&LS_cause=api"
        )
        recovering.disconnect()
        for client in [harness, sensing, recovering] {
            #expect(client.status == .disconnected)
            #expect(client.timers.isEmpty)
            #expect(client.openConnections.isEmpty)
        }
    }

    @Test func disconnectWhileDisconnectedDoesNothing() {
        let harness = SessionHarness()
        harness.disconnect()
        #expect(harness.events.isEmpty)
    }

    @Test(arguments: ["PROBE", "NOOP,x", "CONS,3.0", "SERVNAME,x", "CLIENTIP,::1", "SYNC,1", "REQOK,9", "U,9,1,x", ""])
    func everyLineEndsAStall(line: String) {
        let harness = SessionHarness.streamingOnSocket()
        harness.advance(7000)
        #expect(harness.takeStatuses() == ["S: STALLED"])
        harness.receive(line)
        let trace = harness.takeTrace()
        #expect(trace.contains("S: CONNECTED:WS-STREAMING"))
        #expect(trace.contains("T: liveness 5000"))
        harness.advance(6999)
        #expect(harness.status == .connectedWSStreaming)
        harness.advance(1)
        #expect(harness.status == .stalled)
    }

    @Test func stallOfHTTPStreamingEndsInRecovery() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.advance(7000)
        #expect(harness.status == .stalled)
        harness.advance(3000)
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.advance(100)
        #expect(harness.takeRequests()[0].hasSuffix("LS_cause=http.stalled"))
    }

    @Test func recoveryEndsInTheNextBind() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,*", "PROG,0", "LOOP,0")
        #expect(harness.status == .disconnectedTryingRecovery)
        harness.receive("CONOK,sid,70000,19000,*")
        #expect(harness.status == .connectedHTTPPolling)
    }

    @Test(arguments: ["CONERR,4,x", "CONERR,20,x", "END,41,x", "END,48,x", "PROG,7"])
    func recoveryMayEndInANewSession(line: String) {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        _ = harness.takeTrace()
        harness.receive(line)
        let notes = line == "PROG,7" ? ["note progressMismatch(received: 7, expected: 0)"] : []
        #expect(
            harness.takeTrace()
                == notes + ["close", "S: DISCONNECTED:WILL-RETRY", "P: sessionId(nil)", "T: retry 4000"]
        )
        harness.advance(4000)
        #expect(harness.status == .connecting)
    }

    @Test(arguments: ["CONERR,1,x", "CONERR,5,x", "END,31,x", "END,-4,x"])
    func recoveryMayEndForGood(line: String) {
        let harness = SessionHarness.streamingOnSocket()
        harness.breakStream(pause: 100)
        harness.receive(line)
        #expect(harness.status == .disconnected)
    }

    @Test func identityMismatchIsFatalEverywhere() {
        for harness in [
            SessionHarness.streamingOnSocket(), .sensing(), .bound(.httpPolling), .bound(.httpStreaming),
            .bound(.wsPolling),
        ] {
            harness.close(harness.stream, .identityRejected(reason: "pins"))
            #expect(harness.takeConversation().contains("error 62 Unrecognized server's identity"))
            #expect(harness.status == .disconnected)
        }
    }
}
