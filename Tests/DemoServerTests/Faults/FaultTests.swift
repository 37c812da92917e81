internal import DemoServer
internal import Testing

struct FaultTests {
    private func busy(_ bench: ServerBench, _ more: String = "") -> (link: LinkID, session: String) {
        let (link, session) = bench.openSession(more)
        _ = bench.subscribe(link, 1)
        return (link, session)
    }

    private func publish(_ count: Int, _ bench: ServerBench) {
        for price in 1...count { bench.publish("item1", ["Acme", "\(price)"], to: "QUOTES") }
    }

    @Test func dropAfterSoManyNotificationsLosesNothingButTheConnection() {
        let bench = ServerBench()
        bench.install(Fault(.drop, at: .data(4)))
        let (link, session) = busy(bench)
        publish(3, bench)
        #expect(bench.lines(link) == ["U,1,1,Acme|1", "U,1,1,|2"])
        #expect(bench.cut.contains(link))
        let recovery = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=4&LS_polling=true")
        #expect(bench.lines(recovery).suffix(3) == ["PROG,4", "U,1,1,|3", "LOOP,0"])
    }

    @Test func lineIsCutInItsMiddle() {
        let bench = ServerBench()
        let (link, _) = busy(bench)
        bench.install(Fault(.cutLine()))
        publish(2, bench)
        #expect(bench.lines(link).isEmpty)
        #expect(bench.remainder(link) == "U,1,1,A")
        #expect(bench.cut.contains(link))
        #expect(bench.machine.census.boundSessions == 0)
    }

    @Test(arguments: 0...12)
    func lineIsCutAtAnyByte(count: Int) {
        let bench = ServerBench()
        let (link, _) = busy(bench)
        bench.install(Fault(.cutLine(after: count)))
        publish(1, bench)
        let written = (bench.lines(link).map { $0 + "\r\n" } + [bench.remainder(link)]).joined()
        #expect(written == String("U,1,1,Acme|1\r\n".unicodeScalars.prefix(count)))
        #expect(bench.cut.contains(link))
    }

    @Test func answerIsCutAsWell() {
        let (bench, session) = ServerBench.withPollSession()
        bench.install(Fault(.cutLine(after: 4), at: .request(.constrain), skip: 1))
        let line = "LS_session=\(session)&LS_op=constrain&LS_reqId="
        let control = bench.post("control", line + "1\n" + line + "2")
        #expect(bench.lines(control) == ["REQOK,1"] && bench.remainder(control) == "REQO")
        #expect(bench.cut.contains(control))
    }

    @Test func requestTriggersAFaultOnTheStream() {
        let bench = ServerBench()
        let (link, session) = busy(bench)
        bench.install(
            Fault(.loop(delayMilliseconds: 0), at: .request(.constrain)),
            Fault(.loop(delayMilliseconds: 7), at: .request(.bind)),
            Fault(.end(code: 48, message: "enough"), at: .request(.message)),
            Fault(.inject(["WHAT"]), at: .request(.reconf))
        )
        bench.say("control\nLS_reqId=2&LS_op=constrain", on: link)
        #expect(bench.lines(link) == ["REQOK,2", "CONS,unlimited", "LOOP,0"])
        bench.say("bind_session\nLS_session=\(session)", on: link)
        #expect(bench.lines(link).suffix(2) == ["CONS,unlimited", "LOOP,7"])
        bench.say("bind_session\nLS_session=\(session)", on: link)
        bench.say("control\nLS_reqId=3&LS_op=reconf&LS_subId=1\nLS_reqId=4&LS_op=constrain", on: link)
        #expect(
            bench.lines(link).suffix(5) == [
                "WHAT", "REQOK,3", "CONF,1,unlimited,filtered", "REQOK,4", "CONS,unlimited",
            ]
        )
        bench.say("msg\nLS_reqId=5&LS_message=x&LS_msg_prog=1", on: link)
        #expect(bench.lines(link) == ["REQOK,5", "MSGDONE,*,1,x", "END,48,enough"])
    }

    @Test func webSocketThatIsAnsweredByAStatusLeavesItsSessionUnbound() {
        let bench = ServerBench()
        let (link, _) = busy(bench)
        bench.install(Fault(.status(500), at: .request(.delete)))
        bench.say("control\nLS_reqId=2&LS_op=delete&LS_subId=1", on: link)
        #expect(bench.status(link) == 500)
        #expect(bench.machine.census.boundSessions == 0 && bench.machine.census.boundSubscriptions == 0)
        #expect(bench.machine.census.subscriptions == 1)
        bench.advance(by: .seconds(13))
        #expect(bench.machine.census.sessions == 0)
    }

    @Test func muteLosesAndStallDelays() {
        let bench = ServerBench()
        let (link, _) = busy(bench)
        bench.install(Fault(.mute(.seconds(1))))
        publish(1, bench)
        bench.advance(by: .seconds(1))
        bench.publish("item1", ["Acme", "2"], to: "QUOTES")
        #expect(bench.lines(link) == ["U,1,1,|2"])
        bench.install(Fault(.stall(.seconds(1))))
        bench.publish("item1", ["Acme", "3"], to: "QUOTES")
        #expect(bench.lines(bench.say("control\nLS_reqId=2&LS_op=constrain", on: link)).isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link) == ["REQOK,2", "CONS,unlimited", "U,1,1,|3"])
    }

    @Test func halfOpenConnectionIsDeafAndDumbUntilSuperseded() {
        let bench = ServerBench()
        let (link, session) = busy(bench)
        bench.install(Fault(.halfOpen))
        publish(1, bench)
        #expect(bench.lines(bench.say("control\nLS_reqId=2&LS_op=constrain", on: link)).isEmpty)
        #expect(bench.deaf.contains(link))
        let recovery = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=2&LS_polling=true")
        #expect(bench.lines(recovery).suffix(3) == ["PROG,2", "U,1,1,Acme|1", "LOOP,0"])
        #expect(bench.cut.contains(link))
    }

    @Test func requestsAreRefusedIgnoredDelayedRepeatedAndLost() {
        let (bench, link, _) = ServerBench.withSession()
        bench.install(
            Fault(.refuse(code: -7, message: "a, b"), at: .request(.constrain)),
            Fault(.ignore, at: .request(.reconf)),
            Fault(.delay(.milliseconds(300)), at: .request(.add)),
            Fault(.duplicateAnswer, at: .request(.message)),
            Fault(.loseAnswer, at: .request(.delete))
        )
        bench.say("control\nLS_reqId=1&LS_op=constrain", on: link)
        bench.say("control\nLS_reqId=2&LS_op=reconf&LS_subId=1", on: link)
        #expect(bench.lines(link) == ["REQERR,1,-7,a%2C b"])
        bench.say(
            "control\nLS_reqId=3&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES",
            on: link
        )
        #expect(bench.lines(link) == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"])
        bench.advance(by: .milliseconds(300))
        #expect(bench.lines(link) == ["REQOK,3"])
        bench.say("msg\nLS_reqId=4&LS_message=x&LS_outcome=false", on: link)
        bench.say("control\nLS_reqId=5&LS_op=delete&LS_subId=1", on: link)
        #expect(bench.lines(link) == ["REQOK,4", "REQOK,4", "UNSUB,1"])
    }

    @Test func lostAnswersLeaveAnHTTPRequestUnanswered() {
        let (bench, session) = ServerBench.withPollSession()
        bench.install(Fault(.loseAnswer), Fault(.delay(.seconds(1))), Fault(.rawCommas))
        let control = "LS_session=\(session)&LS_reqId=1&LS_op=constrain"
        let lost = bench.post("control", control)
        #expect(bench.answers[lost] == nil)
        // Faults of the same moment take effect together; the delay has been used up as well.
        let next = bench.post("control", control)
        #expect(bench.lines(next) == ["REQOK,1"])
    }

    @Test func answersOfABatchComeLateAndInReverse() {
        let (bench, link, _) = ServerBench.withSession()
        bench.install(Fault(.lateAnswers, times: 2))
        let add = "LS_op=add&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES"
        #expect(
            bench.lines(bench.say("control\nLS_reqId=1&LS_subId=1&\(add)\nLS_reqId=2&LS_subId=2&\(add)", on: link)) == [
                "SUBOK,1,1,1", "CONF,1,unlimited,filtered", "SUBOK,2,1,1", "CONF,2,unlimited,filtered", "REQOK,2",
                "REQOK,1",
            ]
        )
    }

    @Test func connectingIsRefusedOrChangedAsScripted() {
        let bench = ServerBench()
        bench.install(
            Fault(.refuse(code: 5, message: "busy"), at: .request(.create)),
            Fault(.error(code: 68, message: "oops"), at: .request(.create)),
            Fault(.status(500), at: .request(.create), skip: 1)
        )
        let body = "LS_adapter_set=DEMO&LS_cid=x"
        #expect(bench.lines(bench.post("create_session", body)) == ["CONERR,5,busy"])
        #expect(bench.status(bench.post("create_session", body)) == 500)
        bench.install(
            Fault(.controlLink("other.example:99")),
            Fault(.clientAddress("10.0.0.9")),
            Fault(.duplicateAnswer, at: .request(.streaming)),
            Fault(.inject(["FOOBAR,1", ""]), at: .request(.streaming))
        )
        let stream = bench.post("create_session", body)
        let head = bench.lines(stream).filter { !$0.hasPrefix("NOOP") }
        #expect(head[0] == "FOOBAR,1" && head[1].isEmpty)
        #expect(head[2] == head[3] && head[2].hasSuffix(",other.example:99"))
        #expect(head[5] == "CLIENTIP,10.0.0.9")
    }

    @Test func handshakesAreRefusedWithAStatus() {
        let bench = ServerBench()
        bench.install(Fault(.status(503), times: 2))
        #expect(bench.machine.webSocketRequested(at: bench.now) == 503)
        #expect(bench.machine.webSocketRequested(at: bench.now) == 503)
        #expect(bench.machine.webSocketRequested(at: bench.now) == nil)
    }

    @Test func greetingIsDelayedAndWithheld() {
        let bench = ServerBench()
        bench.install(Fault(.delay(.seconds(1)), at: .request(.wsok)), Fault(.ignore, at: .request(.wsok), skip: 1))
        let late = bench.openWebSocket()
        bench.say("wsok", on: late)
        #expect(bench.lines(bench.say(ServerBench.create, on: late)).isEmpty)
        bench.advance(by: .seconds(1))
        #expect(bench.lines(late).prefix(1) == ["WSOK"])
        let never = bench.openWebSocket()
        #expect(bench.lines(bench.say("wsok", on: never)).isEmpty)
    }

    @Test func streamIsHeldBackUntilItsEnd() {
        let (bench, session) = ServerBench.withPollSession()
        bench.install(Fault(.holdStream))
        let stream = bench.post("bind_session", "LS_session=\(session)")
        bench.advance(by: .seconds(4))
        #expect(bench.answers[stream] == nil && !bench.streams.contains(stream))
        bench.post("control", "LS_session=\(session)&LS_reqId=1&LS_op=force_rebind")
        #expect(bench.lines(stream).last == "LOOP,0")
    }

    @Test func countsAndProgressAreWrong() {
        let bench = ServerBench()
        bench.install(Fault(.wrongCounts(items: 1, fields: -1)), Fault(.progress(3)), Fault(.refuseRecovery, skip: 1))
        let (link, session) = bench.openSession()
        #expect(bench.subscribe(link, 1).first == "SUBOK,1,2,1")
        bench.hangUp(link)
        let body = "LS_session=\(session)&LS_recovery_from=2&LS_polling=true"
        #expect(bench.lines(bench.post("bind_session", body)).suffix(2) == ["PROG,5", "LOOP,0"])
        #expect(bench.lines(bench.post("bind_session", body)) == ["CONERR,4,Recovery not possible"])
    }

    @Test func dataIsSkippedAndRepeated() {
        let bench = ServerBench()
        let (link, _) = busy(bench)
        bench.install(Fault(.skipData))
        publish(2, bench)
        bench.install(Fault(.repeatData), Fault(.inject(["U,1,1,|again"])))
        #expect(bench.lines(link) == ["U,1,1,|2", "U,1,1,|2", "U,1,1,|again"])
    }

    @Test func contentLengthLoopsAndEndsAtAnyMoment() {
        let bench = ServerBench()
        bench.install(Fault(.contentLength(200)))
        let (link, _) = bench.openSession()
        _ = bench.subscribe(link, 1)
        #expect(bench.machine.census.boundSessions == 0)
        let (other, _) = bench.openSession()
        bench.install(Fault(.loop(delayMilliseconds: 70)))
        #expect(bench.lines(other) == ["LOOP,70"])
        bench.install(Fault(.end(code: 41, message: "go")))
        #expect(bench.machine.census.sessions == 0)
    }

    @Test(arguments: [1, 3, 100])
    func splitWritesAddUpToTheSameBytes(length: Int) {
        let bench = ServerBench()
        bench.install(Fault(.split(maxLength: length)))
        let (link, _) = busy(bench)
        bench.publish("item1", ["caffè 😀", "1"], to: "QUOTES")
        #expect(bench.lines(link) == ["U,1,1,caffè 😀|1"])
        // The answer to `wsok` was sent before the stream began.
        #expect(bench.writes[link, default: []].dropFirst().allSatisfy { $0.count <= length })
    }

    @Test func everyLineIsWrittenAlone() {
        let bench = ServerBench()
        bench.install(Fault(.oneLinePerWrite))
        let (link, _) = busy(bench)
        let writes = bench.writes[link, default: []].dropFirst()
        #expect(writes.allSatisfy { $0.count { $0 == 0x0A } == 1 && $0.last == 0x0A })
    }

    @Test func clientsScriptFaultsOnlyWhereTheyMay() {
        let message = "msg\nLS_reqId=1&LS_msg_prog=1&LS_message=FAULT%7Crefuse%20code=7%20at=create"
        let closed = ServerBench()
        let (link, _) = closed.openSession()
        closed.say(message, on: link)
        #expect(closed.lines(link).last?.hasPrefix("MSGFAIL,*,1,-1,") == true)

        let open = ServerBench(ServerBench.still { $0.acceptsFaultsFromClients = true })
        let (other, _) = open.openSession()
        open.say(message, on: other)
        #expect(open.lines(other) == ["REQOK,1", "MSGDONE,*,1,1"])
        #expect(open.lines(open.post("create_session", "LS_adapter_set=DEMO&LS_cid=x")) == ["CONERR,7,"])
        #expect(open.status(open.post("/demo/faults", "nonsense")) == 400)
        #expect(open.status(open.post("/demo/faults", "drop at=now")) == 200)
        #expect(open.cut.contains(other))
        #expect(open.status(open.post("/demo/faults", "", method: "DELETE")) == 200)
        #expect(open.lines(open.post("/demo/census", "", method: "GET")).first == "sessions 1")
    }
}
