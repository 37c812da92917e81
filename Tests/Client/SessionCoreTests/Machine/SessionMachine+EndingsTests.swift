internal import SessionCore
internal import Testing

/// The end of a session: the order of its events, and the state for the next session.
@Suite struct SessionMachineEndingsTests {
    /// Streaming, with all properties of a session.
    private static func full() -> SessionHarness {
        let harness = SessionHarness.opened()
        harness.receive("WSOK", "CONOK,sid,70000,5000,other", "SERVNAME,srv", "CLIENTIP,::1", "CONS,unlimited")
        harness.subscribe(1, item: "a")
        harness.subscribe(2, item: "b")
        harness.subscribe(3, item: "c")
        harness.receive("SUBOK,1,1,1", "SUBOK,3,1,1")
        harness.sendMessage(1, "m")
        harness.sendMessage(2, "n")
        _ = harness.takeTrace()
        return harness
    }

    private static let remains = [
        "P: serverInstanceAddress(nil)", "P: sessionId(nil)", "P: serverSocketName(nil)", "P: clientIp(nil)",
        "P: realMaxBandwidth(nil)", "sub1 unsubscribed", "sub3 unsubscribed", "msg1 aborted(sentOnNetwork: true)",
        "msg2 aborted(sentOnNetwork: true)",
    ]

    @Test func finalEndReportsStatusErrorPropertiesSubscriptionsMessages() {
        let harness = Self.full()
        harness.receive("END,32,bye")
        #expect(harness.takeTrace() == ["close", "S: DISCONNECTED", "error 32 bye"] + Self.remains)
    }

    @Test func retryableEndReportsTheSameWithoutError() {
        let harness = Self.full()
        harness.receive("END,48,refresh")
        #expect(
            harness.takeTrace() == ["close", "S: DISCONNECTED:WILL-RETRY"] + Self.remains + ["T: retry 100"]
        )
    }

    @Test func interruptionReportsTheStatusOnly() {
        let harness = Self.full()
        harness.breakStream()
        #expect(harness.takeConversation() == ["S: DISCONNECTED:TRYING-RECOVERY"])
    }

    @Test func creationReportsItsPropertiesBeforeTheStatus() {
        let harness = SessionHarness.opened()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,5000,other")
        #expect(
            harness.takeTrace() == [
                "P: sessionId(Optional(\"sid\"))", "P: keepaliveInterval(5.0)",
                "P: serverInstanceAddress(Optional(\"http://other\"))", "S: CONNECTED:WS-STREAMING",
                "T: liveness 5000",
            ]
        )
    }

    @Test func nextSessionSubscribesAgainInOrder() {
        let harness = Self.full()
        harness.receive("END,48,refresh")
        harness.advance(100)
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid2,70000,5000,*")
        let request = harness.takeRequests().joined()
        #expect(harness.events.contains(.propertyChanged(.sessionId("sid2"))))
        let positions = ["LS_subId=1&", "LS_subId=2&", "LS_subId=3&"].map { request.firstRange(of: $0)?.lowerBound }
        #expect(positions.allSatisfy { $0 != nil })
        #expect(positions.compactMap { $0 } == positions.compactMap { $0 }.sorted())
        #expect(!request.contains("msg"))
    }

    @Test func oldSessionIsNamedInTheNextCreation() {
        let harness = Self.full()
        harness.receive("END,48,refresh")
        harness.advance(100)
        harness.open()
        #expect(harness.takeRequests().last?.contains("LS_old_session=sid&") == true)
    }

    @Test func informationIsNotifiedOnceWhileItStaysTheSame() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("SERVNAME,srv", "SERVNAME,srv", "CLIENTIP,::1", "CLIENTIP,::1", "CONS,3.5", "CONS,3.5")
        #expect(
            harness.takeTrace() == [
                "P: serverSocketName(Optional(\"srv\"))", "P: clientIp(Optional(\"::1\"))",
                "P: realMaxBandwidth(Optional(TLCP.RealMaxBandwidth.limited(3.5)))",
            ]
        )
    }

    // MARK: - Messages

    @Test func messagesAreAcceptedOnlyWhileASessionIsWanted() {
        let harness = SessionHarness()
        harness.sendMessage(1, "no")
        #expect(harness.takeTrace() == ["msg1 aborted(sentOnNetwork: false)"])
        harness.sendMessage(2, "later", enqueues: true)
        #expect(harness.takeTrace() == [])
        harness.connect()
        harness.sendMessage(3, "soon")
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(
            harness.takeRequests() == [
                "> msg|LS_reqId=1&LS_message=later&LS_sequence=seq&LS_msg_prog=1"
                    + "|LS_reqId=2&LS_message=soon&LS_sequence=seq&LS_msg_prog=2"
            ]
        )
        harness.receive("END,48,x")
        harness.sendMessage(4, "no")
        #expect(harness.takeTrace().suffix(1) == ["msg4 aborted(sentOnNetwork: false)"])
    }

    @Test func messagesSurviveTheFallbackToHTTP() {
        let harness = SessionHarness.connecting()
        harness.sendMessage(1, "m")
        harness.breakStream()
        #expect(!harness.takeTrace().contains { $0.hasPrefix("msg") })
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open("WSOK", "CONOK,sid,70000,0,*")
        #expect(harness.takeRequests().last?.contains("LS_message=m") == true)
    }

    @Test func failedCreationAbortsMessages() {
        let harness = SessionHarness.connecting()
        harness.sendMessage(1, "m")
        harness.open("WSOK")
        _ = harness.takeTrace()
        harness.breakStream()
        #expect(
            harness.takeConversation() == ["S: DISCONNECTED:WILL-RETRY", "msg1 aborted(sentOnNetwork: false)"]
        )
    }

    // MARK: - Legacy

    @Test func everyBindIsAnEstablishedConnection() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.receive("LOOP,0", "CONOK,sid,70000,0,*")
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,*")
        #expect(harness.legacyEvents.filter { $0 == .connectionEstablished }.count == 4)
        #expect(harness.legacyEvents.contains(.connectionFailed(reason: "broken")))
    }

    @Test func refusalsAreReportedWithTheirCode() {
        let harness = SessionHarness.connecting()
        harness.breakStream()
        harness.receive("CONERR,4,later")
        #expect(harness.legacyEvents == [.serverFailed(code: 4, message: "later", isRetried: true)])
    }

    @Test func deviceIsRegisteredInEverySession() {
        let harness = SessionHarness.streamingOnSocket()
        harness.changeToken("new", from: "old")
        harness.resetBadge()
        #expect(
            harness.takeRequests() == [
                "> control|LS_reqId=1&LS_op=register&PN_type=Apple&PN_appId=app&PN_deviceToken=old"
                    + "&PN_newDeviceToken=new"
            ]
        )
        harness.receive("REQOK,1", "MPNREG,dev,ADAPTER")
        #expect(harness.takeRequests() == ["> control|LS_reqId=2&LS_op=reset_badge&PN_deviceId=dev"])
        harness.receive("REQOK,2", "MPNZERO,dev")
        #expect(
            harness.legacyEvents.suffix(2) == [
                .deviceRegistered(DeviceTokenInfo(deviceID: "dev", adapterName: "ADAPTER")),
                .badgeReset(deviceId: "dev", code: nil, message: nil),
            ]
        )
        harness.receive("END,48,x")
        harness.advance(100)
        harness.open("WSOK", "CONOK,sid2,70000,0,*")
        #expect(
            harness.takeRequests().last
                == "> control|LS_reqId=3&LS_op=register&PN_type=Apple&PN_appId=app&PN_deviceToken=new"
                + "&LS_cause=restore.token"
        )
        let count = harness.legacyEvents.count
        harness.receive("MPNREG,dev,ADAPTER")
        #expect(harness.legacyEvents.count == count)
        harness.changeToken("newer", from: "new")
        #expect(
            harness.takeRequests() == [
                "> control|LS_reqId=4&LS_op=register&PN_type=Apple&PN_appId=app&PN_deviceToken=new"
                    + "&PN_newDeviceToken=newer&LS_cause=refresh.token"
            ]
        )
    }

    @Test func badgeResetWithoutAnAnswerIsRequestedInTheNextSession() {
        let harness = SessionHarness.streamingOnSocket()
        harness.changeToken("token")
        harness.receive("REQOK,1", "MPNREG,dev,ADAPTER")
        harness.resetBadge()
        #expect(harness.takeRequests().last == "> control|LS_reqId=2&LS_op=reset_badge&PN_deviceId=dev")
        harness.receive("END,48,x")
        harness.advance(100)
        harness.open("WSOK", "CONOK,sid2,70000,0,*", "MPNREG,dev2,ADAPTER")
        #expect(harness.takeRequests().last == "> control|LS_reqId=4&LS_op=reset_badge&PN_deviceId=dev2")
        harness.receive("MPNZERO,dev2")
        #expect(harness.legacyEvents.last == .badgeReset(deviceId: "dev2", code: nil, message: nil))
        harness.receive("END,48,x")
        harness.advance(4000)
        harness.open("WSOK", "CONOK,sid3,70000,0,*", "MPNREG,dev3,ADAPTER")
        #expect(harness.takeRequests().last?.contains("LS_op=register") == true)
    }

    @Test(arguments: [["REQOK,2", "MPNZERO,dev"], ["REQERR,2,40,off"]])
    func badgeResetThatWaitsForANewTokenIsNotAnsweredByTheOneBefore(lines: [String]) {
        let harness = SessionHarness.streamingOnSocket()
        harness.changeToken("old")
        harness.receive("REQOK,1", "MPNREG,dev,ADAPTER")
        harness.resetBadge()
        harness.changeToken("new", from: "old")
        harness.resetBadge()
        harness.receiveBatch(lines)
        _ = harness.takeRequests()
        harness.receive("REQOK,3", "MPNREG,dev,ADAPTER")
        #expect(harness.takeRequests() == ["> control|LS_reqId=4&LS_op=reset_badge&PN_deviceId=dev"])
    }

    @Test func refusedDeviceIsReported() {
        let harness = SessionHarness.streamingOnSocket()
        harness.resetBadge()
        #expect(harness.legacyEvents.last == .badgeReset(deviceId: nil, code: 45, message: "No device is registered"))
        harness.changeToken("t")
        harness.receive("REQERR,1,40,off")
        #expect(harness.legacyEvents.last == .deviceRefused(code: 40, message: "off"))
    }

    // MARK: - Robustness

    @Test func firingOfACancelledTimerIsIgnored() {
        let harness = SessionHarness.connecting()
        let old = harness.timers.keys.first
        harness.breakStream()
        _ = harness.takeTrace()
        if let old { harness.fire(old) }
        #expect(harness.takeTrace() == [])
    }

    @Test func batchOfLinesIsAsGoodAsOneByOne() {
        let lines = ["SUBOK,1,1,1", "U,1,1,a", "U,1,1,b", "LOOP,0", "U,1,1,late"]
        let batch = SessionHarness.streamingOnSocket()
        batch.subscribe(1, item: "i")
        batch.receiveBatch(lines)
        let single = SessionHarness.streamingOnSocket()
        single.subscribe(1, item: "i")
        let connection = single.stream
        for line in lines { single.receive(line, on: connection) }
        #expect(batch.takeTrace() == single.takeTrace())
    }
}
