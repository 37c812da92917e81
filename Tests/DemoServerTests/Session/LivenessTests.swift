internal import DemoServer
internal import Testing

struct LivenessTests {
    @Test func silenceIsEndedByProbes() {
        let bench = ServerBench()
        let (link, _) = bench.openSession("&LS_keepalive_millis=2000")
        bench.advance(by: .milliseconds(1_899))
        #expect(bench.lines(link).isEmpty)
        bench.advance(by: .milliseconds(4_000))
        #expect(bench.lines(link) == ["PROBE", "PROBE", "PROBE"])
    }

    @Test func anyLineRestartsTheSilence() {
        let (bench, link, _) = ServerBench.withSession()
        _ = bench.subscribe(link, 1)
        bench.advance(by: .seconds(3))
        bench.publish("item1", ["Acme", "1"], to: "QUOTES")
        bench.advance(by: .seconds(4))
        #expect(bench.lines(link) == ["U,1,1,Acme|1"])
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link) == ["PROBE"])
    }

    @Test func anyResponseRestartsTheSilence() {
        let (bench, link, _) = ServerBench.withSession()
        bench.advance(by: .seconds(3))
        bench.say("msg\nLS_reqId=1&LS_message=a&LS_outcome=false", on: link)
        bench.advance(by: .seconds(3))
        bench.say("wsok", on: link)
        bench.advance(by: .seconds(4))
        #expect(bench.lines(link) == ["REQOK,1", "WSOK"])
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link) == ["PROBE"])
    }

    @Test func linesThatAreNotDataFitIntoTheContentLengthToo() {
        let (bench, session) = ServerBench.withPollSession(ServerBench.still { $0.limits.minContentLength = 400 })
        let terms = "LS_content_length=400&LS_keepalive_millis=1000"
        let stream = bench.post("bind_session", "LS_session=\(session)&\(terms)")
        var lines = bench.lines(stream)
        bench.advance(by: .seconds(60))
        lines += bench.lines(stream)
        #expect(lines.last == "LOOP,0" && lines.contains("SYNC,4"))
        #expect(lines.reduce(0) { $0 + $1.utf8.count + 2 } <= 400)
        #expect(bench.ended[stream] == false)
    }

    @Test func changesOfTheBandwidthFitIntoTheContentLengthToo() {
        let (bench, session) = ServerBench.withPollSession(ServerBench.still { $0.limits.minContentLength = 400 })
        let stream = bench.post("bind_session", "LS_session=\(session)&LS_content_length=400")
        for id in 1...30 { bench.post("control", "LS_session=\(session)&LS_op=constrain&LS_reqId=\(id)") }
        let lines = bench.lines(stream)
        #expect(lines.last == "LOOP,0" && lines.contains { $0.hasPrefix("CONS,") })
        #expect(lines.reduce(0) { $0 + $1.utf8.count + 2 } <= 400)
    }

    @Test func syncHasTheAgeOfTheConnection() {
        let bench = ServerBench()
        let link = bench.openWebSocket()
        bench.say("create_session\nLS_adapter_set=DEMO&LS_cid=x&LS_keepalive_millis=30000", on: link)
        _ = bench.lines(link)
        bench.advance(by: .seconds(35))
        #expect(bench.lines(link) == ["SYNC,4", "SYNC,19", "SYNC,34"])
    }

    @Test func inactiveClientIsAskedToRebind() {
        let bench = ServerBench()
        let (link, _) = bench.openSession("&LS_inactivity_millis=3000&LS_keepalive_millis=30000")
        bench.advance(by: .seconds(7))
        bench.say("heartbeat\n\n", on: link)
        bench.advance(by: .milliseconds(7_900))
        #expect(bench.lines(link).isEmpty)
        bench.advance(by: .milliseconds(100))
        #expect(bench.lines(link) == ["LOOP,0"])
    }

    @Test func idleSocketsAreClosed() {
        let bench = ServerBench()
        let link = bench.openWebSocket()
        let (busy, _) = bench.openSession()
        bench.advance(by: .seconds(61))
        #expect(bench.closed[link] == 1_000)
        #expect(bench.closed[busy] == nil)
    }

    @Test func connectionThatTakesNothingIsCut() {
        let (bench, link, _) = ServerBench.withSession()
        bench.setWritable(false, link)
        bench.advance(by: .seconds(19))
        #expect(!bench.cut.contains(link))
        bench.advance(by: .seconds(1))
        #expect(bench.cut.contains(link))
        #expect(bench.machine.census.boundSessions == 0)
        #expect(bench.machine.census.sessions == 1)
    }

    @Test func shutDownEndsEverything() {
        let (bench, link, _) = ServerBench.withSession()
        let idle = bench.openWebSocket()
        let session = bench.pollSession()
        let poll = bench.poll(session, idle: 9000)
        bench.shutDown()
        #expect(bench.lines(link).last == "END,32,Server closing")
        #expect(bench.lines(poll).last == "END,32,Server closing")
        #expect(bench.closed[idle] == 1_001)
        #expect(bench.machine.census == ServerBench().machine.census)
    }
}
