internal import SessionCore
internal import Testing

/// The transport of control and message requests, and the handling of their replies.
@Suite struct SessionMachineControlTests {
    private static func add(_ id: Int, sub: Int, _ item: String, onSocket: Bool = false) -> String {
        "LS_reqId=\(id)&LS_op=add&LS_subId=\(sub)&LS_mode=MERGE&LS_group=\(item)&LS_schema=f&LS_snapshot=true"
            + (onSocket ? "&LS_ack=false" : "")
    }

    // MARK: - WebSocket

    @Test func requestsGoOnTheSocketAtOnce() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "a")
        harness.sendMessage(1, "hello")
        #expect(
            harness.takeTrace() == [
                "> control|" + Self.add(1, sub: 1, "a", onSocket: true),
                "> msg|LS_reqId=2&LS_message=hello&LS_sequence=seq&LS_msg_prog=1",
            ]
        )
    }

    @Test func waitingRequestsGoInBatchesOnceTheSocketIsBound() {
        let harness = SessionHarness()
        harness.subscribe(1, item: "a")
        harness.connect()
        harness.sendMessage(1, "m1")
        harness.subscribe(2, item: "b")
        harness.sendMessage(2, "m2")
        harness.setOptions { $0.requestedMaxBandwidth = .limited(2) }
        harness.open()
        harness.setOptions {
            $0.requestedMaxBandwidth = .limited(3)
            $0.forcedTransport = .http
        }
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(
            harness.takeRequests() == [
                "> control|LS_reqId=1&LS_op=force_rebind&LS_close_socket=true"
                    + "|LS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=3.0|"
                    + Self.add(3, sub: 1, "a", onSocket: true) + "|" + Self.add(4, sub: 2, "b", onSocket: true),
                "> msg|LS_reqId=5&LS_message=m1&LS_sequence=seq&LS_msg_prog=1"
                    + "|LS_reqId=6&LS_message=m2&LS_sequence=seq&LS_msg_prog=2",
            ]
        )
    }

    @Test func requestsWaitWhileTheServerDoesNotReadAndGoInBatchesOnceItDoes() {
        let harness = SessionHarness.streamingOnSocket()
        harness.fill(true)
        harness.subscribe(1, item: "a")
        harness.subscribe(2, item: "b")
        harness.sendMessage(1, "hello")
        #expect(harness.takeRequests() == [])
        harness.fill(false)
        #expect(
            harness.takeRequests() == [
                "> control|" + Self.add(1, sub: 1, "a", onSocket: true) + "|"
                    + Self.add(2, sub: 2, "b", onSocket: true),
                "> msg|LS_reqId=3&LS_message=hello&LS_sequence=seq&LS_msg_prog=1",
            ]
        )
        harness.subscribe(3, item: "c")
        #expect(harness.takeRequests() == ["> control|" + Self.add(4, sub: 3, "c", onSocket: true)])
    }

    @Test func aServerThatAsksForDeletesAndReadsNoneGetsThoseThatAreDue() {
        let harness = SessionHarness.streamingOnSocket()
        harness.fill(true)
        for number in 1_000...3_000 { harness.receive("SUBOK,\(number),1,1", "UNSUB,\(number)") }
        harness.receive("SUBOK,9,1,1")
        #expect(harness.takeRequests() == [])
        harness.fill(false)
        #expect(harness.takeRequests() == ["> control|LS_reqId=1&LS_subId=9&LS_op=delete&LS_ack=false&LS_cause=zombie"])
    }

    @Test func noHeartbeatsAreSentWhileTheServerDoesNotRead() {
        let harness = SessionHarness.streamingOnSocket()
        harness.setOptions { $0.reverseHeartbeatInterval = 1 }
        harness.fill(true)
        _ = harness.takeTrace()
        harness.advance(3_500)
        #expect(harness.takeRequests() == [])
        harness.fill(false)
        harness.advance(1_000)
        #expect(harness.takeRequests() == ["> heartbeat||"])
    }

    @Test func laterRequestsAreSentSingly() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "a", mode: .command)
        harness.subscribe(2, item: "b")
        harness.receive("SUBOK,2,1,1")
        _ = harness.takeTrace()
        harness.setOptions {
            $0.requestedMaxBandwidth = .limited(3)
            $0.forcedTransport = .http
        }
        #expect(
            harness.takeRequests() == [
                "> control|LS_reqId=3&LS_op=force_rebind&LS_close_socket=true",
                "> control|LS_reqId=4&LS_op=constrain&LS_requested_max_bandwidth=3.0",
            ]
        )
    }

    @Test func requestLimitSplitsBatches() {
        let harness = SessionHarness()
        for number in 1...3 { harness.subscribe(UInt64(number), item: "item\(number)") }
        harness.connect()
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,230,0,*")
        let frames = harness.takeRequests()
        #expect(frames.map { $0.split(separator: "|").count - 1 } == [2, 1])
        let small = SessionHarness()
        for number in 1...3 { small.subscribe(UInt64(number), item: "item\(number)") }
        small.connect()
        small.open()
        _ = small.takeTrace()
        small.receive("WSOK", "CONOK,sid,1,0,*")
        #expect(small.takeRequests().count == 3)
    }

    @Test func unansweredRequestsAreRepeatedOnTheNextSocket() {
        let harness = SessionHarness.streamingOnSocket()
        harness.subscribe(1, item: "a")
        harness.subscribe(2, item: "b")
        harness.sendMessage(1, "m")
        harness.receive("SUBOK,1,1,1")
        harness.breakStream(pause: 100)
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(
            harness.takeRequests() == [
                "> control|" + Self.add(4, sub: 2, "b", onSocket: true),
                "> msg|LS_reqId=5&LS_message=m&LS_sequence=seq&LS_msg_prog=1",
            ]
        )
    }

    @Test func requestsWaitDuringARebindOfTheSocket() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("LOOP,0")
        harness.subscribe(1, item: "a")
        harness.open()
        #expect(harness.takeRequests().filter { $0.hasPrefix("> control") } == [])
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(harness.takeRequests().count == 1)
    }

    @Test func pollingSocketTakesRequestsBehindTheBind() {
        let harness = SessionHarness { $0.forcedTransport = .wsPolling }
        harness.subscribe(1, item: "a")
        harness.connect()
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        harness.open()
        _ = harness.takeTrace()
        harness.receive("WSOK")
        #expect(harness.takeRequests().map { $0.prefix(9) } == ["> bind_se", "> control"])
    }

    // MARK: - HTTP

    @Test func requestsAreSentBesideTheStreamWithoutWaitingForItsAnswer() {
        let harness = SessionHarness { $0.forcedTransport = .httpStreaming }
        harness.subscribe(1, item: "a")
        harness.connect()
        harness.receive("CONOK,sid,70000,0,*")
        _ = harness.takeTrace()
        harness.receive("LOOP,0")
        #expect(harness.takeRequests().last == "POST control&LS_session=sid " + Self.add(1, sub: 1, "a"))
        #expect(harness.orders[harness.control]?.kind == .httpControl)
    }

    @Test func oneRequestIsUnderWayAtATime() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.sendMessage(1, "m")
        harness.subscribe(2, item: "b")
        harness.subscribe(3, item: "c")
        #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(1, sub: 1, "a")])
        harness.respond("REQOK,1")
        #expect(
            harness.takeRequests() == [
                "POST control&LS_session=sid " + Self.add(2, sub: 2, "b") + "|" + Self.add(3, sub: 3, "c")
            ]
        )
        harness.respond("REQOK,3", "REQOK,2")
        #expect(
            harness.takeRequests() == [
                "POST msg&LS_session=sid LS_reqId=4&LS_message=m&LS_sequence=seq&LS_msg_prog=1"
            ]
        )
        harness.respond("REQOK,4")
        #expect(harness.takeTrace() == [])
        #expect(harness.remaining(.control) == nil)
    }

    @Test func unansweredRequestsAreSentAgainAtOnce() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.respond("REQOK,1")
        harness.subscribe(2, item: "b")
        harness.subscribe(3, item: "c")
        harness.respond("REQOK,2")
        _ = harness.takeTrace()
        harness.respond("REQOK,99", "SUBOK,3,1,1")
        // The reply named no request of ours, but it was one.
        #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(4, sub: 3, "c")])
    }

    @Test func serverThatRepliesToOtherRequestsIsAskedOncePerRetryDelay() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.respond("REQOK,99")
        _ = harness.takeTrace()
        harness.respond("REQOK,99")
        #expect(harness.takeTrace() == ["T: control 4000"])
        harness.advance(4000)
        #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(3, sub: 1, "a")])
        harness.respond("REQOK,99")
        #expect(
            harness.takeTrace()
                == ["T: control 4000", #"note controlRequestsFail(reason: "no reply to the requests")"#]
        )
    }

    @Test func emptyResponseIsFollowedByAPause() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.advance(1000)
        harness.receive("PROBE")
        _ = harness.takeTrace()
        harness.respond()
        #expect(harness.takeTrace() == ["T: control 3000"])
        harness.subscribe(2, item: "b")
        #expect(harness.takeTrace() == [])
        harness.advance(3000)
        #expect(
            harness.takeRequests() == [
                "POST control&LS_session=sid " + Self.add(2, sub: 1, "a") + "|" + Self.add(3, sub: 2, "b")
            ]
        )
    }

    @Test func failedRequestIsRepeatedAfterTheRetryDelay() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.subscribe(1, item: "a")
        harness.advance(500)
        harness.breakControl()
        #expect(harness.remaining(.control) == 3500)
        #expect(harness.status == .connectedHTTPPolling)
        _ = harness.takeTrace()
        harness.advance(3500)
        #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(2, sub: 1, "a")])
        harness.advance(4000)
        // The silence was as long as the delay.
        #expect(
            harness.takeTrace() == [
                "close", "T: control 0", #"note controlRequestsFail(reason: "no answer in time")"#,
                "POST control&LS_session=sid " + Self.add(3, sub: 1, "a"), "T: control 4000",
            ]
        )
    }

    @Test func failuresInSuccessionAreNotedOnceUntilARequestIsAnswered() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        func fail() -> [String] {
            harness.refuseControl(status: 403)
            return harness.takeTrace().filter { $0.hasPrefix("note") }
        }
        let note = #"note controlRequestsFail(reason: "HTTP status 403")"#
        #expect([fail(), fail(), fail()] == [[], [note], []])
        harness.respond("REQOK,4")
        harness.subscribe(2, item: "b")
        #expect([fail(), fail()] == [[], [note]])
    }

    @Test func batchThatIsRefusedByAnHTTPStatusIsSentInHalves() {
        let harness = SessionHarness.bound(.httpStreaming)
        for number in UInt64(1)...6 { harness.subscribe(number, item: "a") }
        func sizes() -> [Int] { harness.takeRequests().map { $0.split(separator: "|").count } }
        func refuse() -> [Int] {
            harness.refuseControl(status: 403)
            return sizes()
        }
        #expect(sizes() == [1])
        // The refused request waits until no other request does.
        #expect(refuse() == [5])
        #expect(refuse() == [2])
        harness.respond("REQOK,7", "REQOK,8")
        #expect(sizes() == [2])
        harness.respond("REQOK,10", "REQOK,11")
        #expect(sizes() == [1])
        harness.respond("REQOK,13")
        #expect(sizes() == [1])
        // A request alone is not divided, and its refusal changes nothing.
        #expect(refuse() == [1])
        harness.respond("REQOK,15")
        for number in UInt64(7)...10 { harness.subscribe(number, item: "a") }
        #expect(sizes() == [1])
        harness.respond("REQOK,16")
        #expect(sizes() == [2])
    }

    @Test func requestThatAProxyRefusesEachTimeDelaysNoOtherFurther() {
        let harness = SessionHarness.bound(.httpStreaming)
        func sent() -> [String] {
            harness.takeRequests().map { request in
                if request.contains("LS_message=") { return "message" }
                return request.contains("=bad&") ? "bad" : "good"
            }
        }
        func refuse() -> [String] {
            harness.refuseControl(status: 403)
            return sent()
        }
        harness.subscribe(1, item: "bad")
        #expect(sent() == ["bad"])
        harness.subscribe(2, item: "b")
        harness.sendMessage(1, "m")
        #expect(refuse() == ["good"])
        harness.respond("REQOK,2")
        #expect(sent() == ["message"])
        harness.respond("REQOK,3")
        // No other request waits.
        #expect(sent() == ["bad"])
        #expect(refuse() == ["bad"])
        harness.respond("REQOK,5")
        harness.receive("SUBOK,1,1,1")
        #expect(harness.takeTrace().last == "sub1 subscribed")
    }

    @Test func requestThatAProxyRefusedOnceIsSentAgainAmongManyOthers() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        #expect(harness.takeRequests().count == 1)
        harness.sendMessage(1, "m")
        harness.refuseControl(status: 503)
        var count = 1
        while let request = harness.takeRequests().last, request.contains("LS_message="), count < 100 {
            count += 1
            harness.sendMessage(UInt64(count), "m")
            harness.respond("REQOK,\(count)")
        }
        #expect(count == 21)
        harness.respond("REQOK,\(count + 1)")
        harness.receive("SUBOK,1,1,1")
        #expect(harness.takeTrace().last == "sub1 subscribed")
    }

    @Test func requestsOfWhichTheFirstIsNotNeededAnyMoreAreRepeated() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.subscribe(2, item: "b")
        for _ in 0..<2 {
            harness.refuseControl(status: 413)
        }
        harness.unsubscribe(1)
        _ = harness.takeRequests()
        harness.refuseControl(status: 413)
        #expect(harness.takeRequests().last?.contains("LS_group=b") == true)
    }

    @Test func requestsThatAProxyRefusesAreRepeatedOneByOne() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.subscribe(2, item: "b")
        #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(1, sub: 1, "a")])
        for (id, sub, item) in [(2, 2, "b"), (3, 1, "a"), (4, 2, "b"), (5, 1, "a")] {
            harness.refuseControl(status: 413)
            #expect(harness.takeRequests() == ["POST control&LS_session=sid " + Self.add(id, sub: sub, item)])
        }
    }

    @Test func responsesWithoutReplyAreNoted() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.subscribe(1, item: "a")
        for _ in 0..<2 {
            harness.respond()
            harness.advance(4000)
        }
        #expect(harness.takeTrace().contains(#"note controlRequestsFail(reason: "no reply to the requests")"#))
    }

    @Test func confirmedRequestIsNotRepeatedAfterAnError() {
        let harness = SessionHarness.bound(.httpPolling)
        harness.subscribe(1, item: "a")
        harness.receive("REQOK,1", on: harness.control)
        harness.breakControl()
        _ = harness.takeTrace()
        harness.advance(4000)
        #expect(harness.takeRequests() == [])
    }

    @Test func requestUnderWaySurvivesARebindOverHTTPOnly() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.receive("LOOP,0")
        #expect(harness.openConnections.contains(harness.control))
        harness.setOptions { $0.forcedTransport = .wsStreaming }
        harness.receive("CONOK,sid,70000,0,*", "LOOP,0")
        #expect(!harness.openConnections.contains(harness.control))
        #expect(harness.remaining(.control) == nil)
    }

    @Test func interruptionDropsTheRequestUnderWay() {
        let harness = SessionHarness.bound(.httpStreaming)
        harness.subscribe(1, item: "a")
        harness.breakStream()
        #expect(harness.openConnections.isEmpty)
        harness.advance(100)
        harness.receive("CONOK,sid,70000,0,*")
        _ = harness.takeTrace()
        harness.receive("LOOP,0")
        #expect(harness.takeRequests().last == "POST control&LS_session=sid " + Self.add(2, sub: 1, "a"))
    }

    // MARK: - Bandwidth

    @Test func bandwidthIsNegotiatedOneRequestAtATime() {
        let harness = SessionHarness.streamingOnSocket()
        harness.setOptions { $0.requestedMaxBandwidth = .limited(10) }
        #expect(
            harness.takeRequests() == ["> control|LS_reqId=1&LS_op=constrain&LS_requested_max_bandwidth=10.0"]
        )
        harness.setOptions { $0.requestedMaxBandwidth = .limited(20) }
        harness.setOptions { $0.requestedMaxBandwidth = .unlimited }
        #expect(harness.takeRequests() == [])
        harness.receive("REQOK,1")
        #expect(
            harness.takeRequests() == ["> control|LS_reqId=2&LS_op=constrain&LS_requested_max_bandwidth=unlimited"]
        )
        harness.receive("REQERR,2,68,no")
        #expect(harness.takeRequests() == [])
        harness.setOptions { $0.requestedMaxBandwidth = .unlimited }
        #expect(harness.takeRequests() == [])
    }

    /// `CONS` follows `CONOK`, usually in the same message.
    @Test(
        arguments: [
            ("unmanaged", []), ("unlimited", ["> control|LS_reqId=1&LS_op=constrain&LS_requested_max_bandwidth=10.0"]),
        ] as [(String, [String])]
    )
    func limitSetDuringTheCreationIsRequestedWhereItCanBe(real: String, requests: [String]) {
        let harness = SessionHarness.opened()
        harness.setOptions { $0.requestedMaxBandwidth = .limited(10) }
        _ = harness.takeTrace()
        harness.receiveBatch(["WSOK", "CONOK,sid,70000,5000,*", "CONS,\(real)"])
        #expect(harness.takeRequests() == requests)
        harness.setOptions { $0.requestedMaxBandwidth = .limited(20) }
        #expect(harness.takeRequests() == [])
    }

    @Test func unmanagedBandwidthIsNotNegotiated() {
        let harness = SessionHarness.streamingOnSocket()
        harness.receive("CONS,unmanaged")
        #expect(harness.takeTrace() == ["P: realMaxBandwidth(Optional(TLCP.RealMaxBandwidth.unmanaged))"])
        harness.setOptions { $0.requestedMaxBandwidth = .limited(10) }
        #expect(harness.takeRequests() == [])
    }

    @Test func bandwidthSetBeforeTheCreationTravelsWithIt() {
        let harness = SessionHarness()
        harness.setOptions { $0.requestedMaxBandwidth = .limited(7) }
        harness.connect()
        harness.open()
        #expect(harness.takeRequests().last?.contains("LS_requested_max_bandwidth=7.0") == true)
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(harness.takeRequests() == [])
    }

    // MARK: - Heartbeats

    @Test func requestsPostponeTheHeartbeat() {
        let harness = SessionHarness.opened { $0.reverseHeartbeatInterval = 3 }
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        harness.advance(2000)
        harness.subscribe(1, item: "a")
        #expect(harness.remaining(.heartbeat) == 3000)
        _ = harness.takeTrace()
        harness.advance(3000)
        #expect(harness.takeRequests() == ["> heartbeat||"])
    }

    @Test(arguments: [1e-9, 1e-6, 0.0005])
    func tinyHeartbeatIntervalCountsAsAMillisecond(interval: Double) {
        let harness = SessionHarness.opened { $0.reverseHeartbeatInterval = interval }
        #expect(harness.takeRequests().last?.contains("LS_inactivity_millis=1&") == true)
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        #expect(harness.remaining(.heartbeat) == 1)
        harness.setOptions { $0.reverseHeartbeatInterval = 0.0001 }
        #expect(harness.remaining(.heartbeat) == 1)
    }

    @Test func declaredIntervalCanBeShortenedOnly() {
        let harness = SessionHarness.opened { $0.reverseHeartbeatInterval = 10 }
        harness.receive("WSOK", "CONOK,sid,70000,0,*")
        harness.setOptions { $0.reverseHeartbeatInterval = 0 }
        #expect(harness.remaining(.heartbeat) == 10_000)
        harness.setOptions { $0.reverseHeartbeatInterval = 4 }
        #expect(harness.remaining(.heartbeat) == 4000)
        harness.advance(4000)
        #expect(harness.remaining(.heartbeat) == 4000)
        harness.setOptions { $0.reverseHeartbeatInterval = 60 }
        harness.advance(4000)
        #expect(harness.remaining(.heartbeat) == 10_000)
    }

    @Test func undeclaredHeartbeatsFollowTheOption() {
        let harness = SessionHarness.bound(.httpPolling)
        #expect(harness.remaining(.heartbeat) == nil)
        harness.setOptions { $0.reverseHeartbeatInterval = 5 }
        #expect(harness.remaining(.heartbeat) == 5000)
        harness.setOptions { $0.reverseHeartbeatInterval = 0 }
        #expect(harness.remaining(.heartbeat) == nil)
    }

    @Test func pollsOnASocketDoNotPutHeartbeatsOff() {
        let harness = SessionHarness.bound(.wsPolling) { $0.reverseHeartbeatInterval = 5 }
        harness.advance(3000)
        harness.receive("LOOP,0", "CONOK,sid,70000,19000,*")
        #expect(harness.remaining(.heartbeat) == 2000)
    }

    @Test func pollsDoNotPutHeartbeatsOff() {
        let harness = SessionHarness.bound(.httpPolling) { $0.reverseHeartbeatInterval = 5 }
        harness.advance(3000)
        harness.receive("LOOP,0", "CONOK,sid,70000,19000,*")
        #expect(harness.remaining(.heartbeat) == 2000)
        _ = harness.takeTrace()
        harness.advance(2000)
        #expect(harness.takeRequests() == ["POST heartbeat&LS_session=sid |"])
    }

    @Test func bindsOfAStreamDoNotPutHeartbeatsOff() {
        let harness = SessionHarness.bound(.httpStreaming) { $0.reverseHeartbeatInterval = 5 }
        harness.advance(3000)
        harness.receive("LOOP,0", "CONOK,sid,70000,5000,*")
        #expect(harness.remaining(.heartbeat) == 2000)
        harness.receive("LOOP,0")
        harness.advance(2500)
        harness.receive("CONOK,sid,70000,5000,*")
        _ = harness.takeTrace()
        harness.advance(0)
        #expect(harness.takeRequests() == ["POST heartbeat&LS_session=sid |"])
        #expect(harness.remaining(.heartbeat) == 5000)
    }

    @Test func heartbeatOverHTTPWaitsForTheRequestUnderWay() {
        let harness = SessionHarness.bound(.httpPolling) { $0.reverseHeartbeatInterval = 1 }
        harness.subscribe(1, item: "a")
        harness.advance(1000)
        #expect(harness.takeRequests().count == 1)
        harness.respond("REQOK,1")
        #expect(harness.takeRequests() == ["POST heartbeat&LS_session=sid |"])
        harness.respond("REQOK")
        harness.advance(1000)
        #expect(harness.takeRequests() == ["POST heartbeat&LS_session=sid |"])
    }
}
