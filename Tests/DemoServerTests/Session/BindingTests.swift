internal import DemoServer
internal import Testing

struct BindingTests {
    @Test func rebindContinuesWhereTheStreamStopped() {
        let (bench, link, session) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        bench.say("control\nLS_reqId=2&LS_op=force_rebind&LS_close_socket=true", on: link)
        #expect(bench.lines(link) == ["U,1,1,Acme|1", "REQOK,2", "LOOP,0"])
        #expect(bench.closed[link] == 1_000)
        bench.publish("item1", ["Acme", "2"], to: "QUOTES")
        bench.publish("item1", ["Acme", "3"], to: "QUOTES")
        let again = bench.openWebSocket()
        bench.say("bind_session\nLS_session=\(session)", on: again)
        #expect(bench.lines(again).suffix(2) == ["CONS,unlimited", "U,1,1,|3"])
    }

    @Test func socketStaysOpenAfterLoopUnlessItIsToBeClosed() {
        let (bench, link, session) = ServerBench.withSession()
        #expect(bench.lines(bench.say("control\nLS_reqId=2&LS_op=force_rebind", on: link)) == ["REQOK,2", "LOOP,0"])
        #expect(bench.closed[link] == nil)
        #expect(bench.lines(bench.say("control\nLS_reqId=3&LS_op=force_rebind", on: link)) == ["REQOK,3"])
        #expect(bench.lines(bench.say("bind_session", on: link)).first == "CONOK,\(session),50000,5000,*")
    }

    @Test func unboundSessionExpires() {
        let (bench, session) = ServerBench.withPollSession()
        bench.advance(by: .seconds(10))
        #expect(bench.machine.census.sessions == 0)
        let link = bench.post("bind_session", "LS_session=\(session)")
        #expect(bench.lines(link) == ["CONERR,20,Session not found"])
    }

    @Test(arguments: [(0, "", 10), (0, "0", 10), (0, "5000", 16), (0, "99000", 26), (15_000, "1000", 25)])
    func forceRebindKeepsAnUnboundSession(granted: Int, requested: String, end: Int) {
        let bench = ServerBench()
        let session = bench.pollSession(pause: granted)
        bench.advance(by: .seconds(1))
        let pause = requested.isEmpty ? "" : "&LS_polling_millis=\(requested)"
        bench.post("control", "LS_session=\(session)&LS_reqId=1&LS_op=force_rebind\(pause)")
        bench.advance(by: .seconds(end - 1) - .milliseconds(1))
        #expect(bench.machine.census.sessions == 1)
        bench.advance(by: .milliseconds(1))
        #expect(bench.machine.census.sessions == 0)
    }

    @Test func plainBindSupersedesWithAFarewell() {
        let (bench, old, session) = ServerBench.withSession()
        let new = bench.openWebSocket()
        bench.say("bind_session\nLS_session=\(session)", on: new)
        #expect(bench.lines(old).last?.hasPrefix("END,40,") == true)
        #expect(bench.closed[old] == 1_000)
        #expect(bench.lines(new).first?.hasPrefix("CONOK,\(session)") == true)
    }

    @Test func lateBindStopsNoClientAndLosesNothing() {
        let (bench, session) = ServerBench.withPollSession()
        let old = bench.openWebSocket()
        bench.advance(by: .seconds(1))
        let new = bench.openWebSocket()
        bench.say("bind_session\nLS_session=\(session)", on: new)
        _ = bench.subscribe(new, 1)
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        #expect(bench.lines(new) == ["U,1,1,Acme|1"])
        bench.say("bind_session\nLS_session=\(session)", on: old)
        #expect(bench.lines(old).first?.hasPrefix("CONOK,\(session)") == true)
        // The client of the new connection receives no END: it recovers from its last notification.
        #expect(bench.lines(new).isEmpty && bench.cut.contains(new))
        bench.publish("item1", ["Acme", "2"], to: "QUOTES")
        bench.hangUp(old)
        let recovery = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=2&LS_polling=true")
        #expect(bench.lines(recovery).suffix(4) == ["PROG,2", "U,1,1,Acme|1", "U,1,1,|2", "LOOP,0"])
    }

    @Test func requestOnAnOldHTTPConnectionMayBeLateToo() {
        let (bench, session) = ServerBench.withPollSession()
        bench.advance(by: .seconds(2))
        let new = bench.post("bind_session", "LS_session=\(session)")
        bench.advance(by: .seconds(1))
        _ = bench.lines(new)
        let late = bench.post("bind_session", "LS_session=\(session)", connectedAt: .seconds(1))
        #expect(bench.lines(late).first?.hasPrefix("CONOK,\(session)") == true)
        #expect(bench.lines(new).isEmpty && bench.cut.contains(new))
        let stranger = bench.post("bind_session", "LS_session=\(session)")
        #expect(bench.lines(stranger).first?.hasPrefix("CONOK,\(session)") == true)
        #expect(bench.lines(late).last?.hasPrefix("END,40,") == true)
    }

    @Test func recoverySupersedesSilentlyAndReplaysTheExactLines() {
        let (bench, old, session) = ServerBench.withSession()
        _ = bench.subscribe(old, 1)
        for price in ["1", "2", "3"] { bench.publish("item1", ["Acme", price], to: "QUOTES") }
        let sent = bench.lines(old)
        let new = bench.openWebSocket()
        bench.say("bind_session\nLS_session=\(session)&LS_recovery_from=3", on: new)
        #expect(bench.lines(old).isEmpty)
        #expect(bench.closed[old] == 1_000)
        #expect(Array(bench.lines(new).suffix(3)) == ["PROG,3"] + Array(sent.suffix(2)))
        bench.publish("item1", ["Acme", "4"], to: "QUOTES")
        #expect(bench.lines(new) == ["U,1,1,|4"])
    }

    /// Requests that rely on the refused bind fail with it; the session is still the one that was bound last.
    @Test func refusedBindLeavesTheSessionToTheNextOne() {
        let (bench, link, session) = ServerBench.withSession()
        bench.say("control\nLS_reqId=1&LS_op=force_rebind", on: link)
        bench.say("bind_session\nLS_recovery_from=9", on: link)
        #expect(
            bench.lines(bench.say("control\nLS_reqId=2&LS_op=constrain", on: link)) == [
                "REQOK,1", "LOOP,0", "CONERR,4,Recovery not possible", "REQERR,2,20,Session not found",
            ]
        )
        bench.say("bind_session", on: link)
        bench.say("control\nLS_reqId=3&LS_op=force_rebind", on: link)
        let lines = bench.lines(link)
        #expect(lines.first == "CONOK,\(session),50000,5000,*")
        #expect(lines.suffix(2) == ["REQOK,3", "LOOP,0"])
    }

    @Test func recoveryFromWhereNothingIsKeptIsRefused() {
        let (bench, link, session) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        bench.hangUp(link)
        for point in ["4", "9223372036854775807"] {
            let answer = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=\(point)")
            #expect(bench.lines(answer) == ["CONERR,4,Recovery not possible"])
        }
        // A plain bind confirms all notifications; none before it is kept.
        _ = bench.post("bind_session", "LS_session=\(session)&LS_polling=true")
        let answer = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=2")
        #expect(bench.lines(answer) == ["CONERR,4,Recovery not possible"])
    }

    @Test func brokenSessionIsKeptForItsRecoveryOnly() {
        let (bench, link, session) = ServerBench.withSession()
        bench.hangUp(link)
        bench.advance(by: .milliseconds(12_900))
        #expect(bench.machine.census.sessions == 1)
        bench.advance(by: .milliseconds(100))
        #expect(bench.machine.census.sessions == 0)
        let late = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=0")
        #expect(bench.lines(late) == ["CONERR,20,Session not found"])
    }

    @Test func lateBindLearnsWhyTheSessionWasClosed() {
        let (bench, link, session) = ServerBench.withSession()
        bench.say("control\nLS_reqId=1&LS_op=destroy&LS_cause_code=-5&LS_cause_message=shift%20over", on: link)
        #expect(bench.lines(link) == ["REQOK,1", "END,-5,shift over"])
        let late = bench.post("bind_session", "LS_session=\(session)")
        #expect(bench.lines(late) == ["END,-5,shift over"])
        bench.advance(by: .seconds(11))
        #expect(bench.lines(bench.post("bind_session", "LS_session=\(session)")) == ["CONERR,20,Session not found"])
    }

    @Test func webSocketLearnsWhyItsSessionWasClosedBetweenTwoPolls() {
        let (bench, session) = ServerBench.withPollSession()
        let link = bench.openWebSocket()
        bench.say("bind_session\nLS_session=\(session)&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0", on: link)
        #expect(bench.lines(link).last == "LOOP,0")
        bench.install(Fault(.end(code: 48, message: "refresh"), at: .now))
        bench.say("bind_session\nLS_polling=true&LS_polling_millis=0&LS_idle_millis=0", on: link)
        #expect(bench.lines(link) == ["END,48,refresh"])
    }

    @Test func synchronousPollAnswersAtOnce() {
        let (bench, session) = ServerBench.withPollSession()
        let poll = bench.poll(session, pause: 99000)
        #expect(bench.lines(poll).last == "LOOP,15000")
        // Kept for the granted pause and the session timeout.
        bench.advance(by: .milliseconds(24_900))
        #expect(bench.machine.census.sessions == 1)
    }

    @Test func pollIsAnsweredWithDataGatheredAfterTheFirst() {
        let (bench, session) = ServerBench.withPollSession()
        let query = "LS_protocol=TLCP-2.5.0&LS_session=\(session)"
        bench.post(
            "control",
            "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1%20item2&LS_schema=price&LS_data_adapter=QUOTES",
            query: query
        )
        let first = bench.poll(session, idle: 5000)
        #expect(bench.lines(first).suffix(3) == ["SUBOK,1,2,1", "CONF,1,unlimited,filtered", "LOOP,0"])
        let second = bench.poll(session, idle: 5000)
        #expect(bench.lines(second).last == "CONS,unlimited")
        bench.advance(by: .seconds(1))
        bench.publish("item1", [nil, "1"], to: "QUOTES")
        bench.publish("item2", [nil, "2"], to: "QUOTES")
        #expect(bench.lines(second).isEmpty)
        bench.advance(by: .milliseconds(5))
        #expect(bench.lines(second) == ["U,1,1,1", "U,1,2,2", "LOOP,0"])
        #expect(bench.ended[second] == false)
    }

    @Test func pollWaitsForAnItemThatMayNotSendYet() {
        let (bench, session) = ServerBench.withPollSession()
        let query = "LS_protocol=TLCP-2.5.0&LS_session=\(session)"
        bench.post(
            "control",
            "LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES&LS_requested_max_frequency=0.5",
            query: query
        )
        bench.publish("item1", [nil, "1"], to: "QUOTES")
        #expect(bench.lines(bench.poll(session, idle: 5000)).suffix(2) == ["U,1,1,1", "LOOP,0"])
        bench.publish("item1", [nil, "2"], to: "QUOTES")
        let poll = bench.poll(session, idle: 5000)
        _ = bench.lines(poll)
        bench.advance(by: .milliseconds(1_999))
        #expect(bench.lines(poll).isEmpty)
        bench.advance(by: .milliseconds(10))
        #expect(bench.lines(poll) == ["U,1,1,2", "LOOP,0"])
    }

    @Test func heldPollSendsNothingBeforeItsData() {
        let (bench, session) = ServerBench.withPollSession(ServerBench.still { $0.holdsPolls = true })
        let poll = bench.poll(session, idle: 5000)
        #expect(bench.answers[poll] == nil && !bench.streams.contains(poll))
        bench.advance(by: .seconds(5))
        #expect(bench.lines(poll).last == "LOOP,0")
        #expect(bench.answers[poll]?.status == 200)
    }

    @Test func controlsAreTakenWhileUnboundAndTheirEffectsWait() {
        let (bench, session) = ServerBench.withPollSession()
        let control = bench.post(
            "control",
            "LS_session=\(session)&LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES"
        )
        #expect(bench.lines(control) == ["REQOK,1"])
        let stream = bench.post("bind_session", "LS_session=\(session)")
        #expect(bench.lines(stream).suffix(2) == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"])
    }

    @Test func keepaliveIdleAndContentLengthAreHeldWithinBounds() {
        let (bench, session) = ServerBench.withPollSession()
        for (asked, granted) in [("10", "1000"), ("7000", "7000"), ("999999999999", "30000")] {
            let stream = bench.post(
                "bind_session",
                "LS_session=\(session)&LS_keepalive_millis=\(asked)&LS_content_length=10"
            )
            let head = bench.lines(stream)
            #expect(head.first == "CONOK,\(session),50000,\(granted),*")
            #expect(bench.ended[stream] == nil)
        }
        let poll = bench.poll(session, idle: 99999)
        #expect(bench.lines(poll).first == "CONOK,\(session),50000,30000,*")
    }

    @Test func reducedHeadLeavesLinesOut() {
        let bench = ServerBench()
        let link = bench.openWebSocket()
        bench.say(ServerBench.create + "&LS_reduce_head=true", on: link)
        let head = bench.lines(link)
        #expect(head.count == 1 && head[0].hasPrefix("CONOK"))
        bench.say("control\nLS_reqId=1&LS_op=force_rebind", on: link)
        _ = bench.lines(link)
        #expect(bench.lines(bench.say("bind_session\nLS_reduce_head=true", on: link)).isEmpty)
    }

    @Test func comboSubscribesWithTheCreation() {
        let bench = ServerBench()
        let link = bench.openWebSocket()
        bench.say(
            """
            create_session
            LS_adapter_set=DEMO&LS_cid=x
            LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES
            LS_op=add&LS_subId=2&LS_mode=MERGE&LS_group=item2&LS_schema=price&LS_data_adapter=QUOTES
            """,
            on: link
        )
        #expect(
            bench.lines(link).suffix(4) == [
                "SUBOK,1,1,1", "CONF,1,unlimited,filtered", "SUBOK,2,1,1", "CONF,2,unlimited,filtered",
            ]
        )
        let other = bench.openWebSocket()
        bench.say(
            ServerBench.create
                + "&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=nosuch&LS_schema=price&LS_data_adapter=QUOTES",
            on: other
        )
        #expect(bench.lines(other).first?.hasPrefix("CONERR,64,") == true)
        #expect(bench.machine.census.sessions == 1)
    }

    /// The items of a subscription whose ID was used twice counted for the limit after the end of the session.
    @Test(arguments: [
        (1, "Subscription ID in use", [1, 1]), (2, "Too many subscriptions", [1, 2, 3]),
        (9, "Too many subscriptions", [1, 2, 3]),
    ])
    func comboIsRefusedAsAWhole(subscriptions: Int, reason: String, ids: [Int]) {
        let bench = ServerBench(
            ServerBench.still {
                $0.limits.subscriptions = max(2, subscriptions)
                $0.limits.items = 2
            }
        )
        let add = "LS_op=add&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES"
        func create(_ ids: [Int]) -> [String] {
            let link = bench.openWebSocket()
            bench.say(ServerBench.create + ids.map { "\n\(add)&LS_subId=\($0)" }.joined(), on: link)
            return bench.lines(link)
        }
        #expect(
            create(ids) == [
                "CONERR,64,Unexpected error while initializing the session: subscription \(ids.last ?? 0): \(reason)"
            ]
        )
        #expect(bench.machine.census.sessions == 0)
        #expect(create([1, 2]).last == "CONF,2,unlimited,filtered")
    }
}
