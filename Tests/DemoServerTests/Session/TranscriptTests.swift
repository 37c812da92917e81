internal import DemoServer
internal import Testing

/// The example conversations of the protocol reference.
struct TranscriptTests {
    @Test func webSocketStreamingSession() {
        let bench = ServerBench()
        bench.publish("item1", ["Acme", "10.25"], to: "QUOTES")
        bench.publish("item2", ["Zeta, Inc.", "7.5"], to: "QUOTES")
        bench.publish("portfolio1", ["IBM", "ADD", "10"], to: "PORTFOLIO")
        let link = bench.openWebSocket()
        bench.say("wsok", on: link)
        bench.say(
            "create_session\nLS_keepalive_millis=5000&LS_adapter_set=DEMO&LS_user=mia&LS_cid=x&LS_send_sync=false",
            on: link
        )
        let head = bench.lines(link)
        #expect(head.count == 5)
        #expect(head[0] == "WSOK")
        #expect(head[1].hasPrefix("CONOK,S") && head[1].hasSuffix(",50000,5000,*"))
        #expect(Array(head[2...]) == ["SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1", "CONS,unlimited"])

        bench.say(
            """
            control
            LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1%20item2&LS_schema=name%20price&LS_data_adapter=QUOTES&LS_snapshot=true&LS_requested_max_frequency=5.0&LS_ack=false
            LS_reqId=2&LS_op=add&LS_subId=2&LS_mode=COMMAND&LS_group=portfolio1&LS_schema=key%20command%20qty&LS_data_adapter=PORTFOLIO&LS_snapshot=true&LS_ack=false
            """,
            on: link
        )
        #expect(
            bench.lines(link) == [
                "SUBOK,1,2,2", "CONF,1,5.0,filtered", "U,1,1,Acme|10.25", "U,1,2,Zeta, Inc.|7.5", "SUBCMD,2,1,3,1,2",
                "CONF,2,unlimited,filtered", "U,2,1,IBM|ADD|10", "EOS,2,1",
            ]
        )
        bench.advance(by: .seconds(1))
        bench.publish("item1", ["Acme", "10.5"], to: "QUOTES")
        bench.publish("portfolio1", ["ACME", "ADD", "5"], to: "PORTFOLIO")
        #expect(bench.lines(link) == ["U,1,1,|10.5", "U,2,1,ACME||5"])
        bench.say("msg\nLS_reqId=3&LS_message=ECHO%7Cdone&LS_sequence=orders&LS_msg_prog=1", on: link)
        #expect(bench.lines(link) == ["REQOK,3", "MSGDONE,orders,1,done"])
        bench.publish("portfolio1", ["IBM", "UPDATE", "15"], to: "PORTFOLIO")
        #expect(bench.lines(link) == ["U,2,1,IBM|UPDATE|15"])
        bench.advance(by: .milliseconds(4_750))
        #expect(bench.lines(link) == ["PROBE"])
        bench.say("control\nLS_reqId=4&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=unlimited", on: link)
        #expect(bench.lines(link) == ["REQOK,4", "CONF,1,unlimited,filtered"])
        bench.say("control\nLS_reqId=5&LS_subId=2&LS_op=delete&LS_ack=false", on: link)
        #expect(bench.lines(link) == ["UNSUB,2"])
        #expect(bench.lines(bench.say("heartbeat\n\n", on: link)).isEmpty)
        bench.say("control\nLS_reqId=6&LS_op=destroy&LS_close_socket=true&LS_cause=api", on: link)
        #expect(bench.lines(link) == ["REQOK,6", "END,31,Destroy invoked by client"])
        #expect(bench.closed[link] == 1_000)
        #expect(bench.machine.census.sessions == 0)
    }

    @Test func httpPreflightStreamControlLoopAndRebind() {
        let bench = ServerBench()
        bench.publish("item1", ["Acme", "10.25"], to: "QUOTES")
        let preflight = bench.post(
            "create_session",
            "LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_adapter_set=DEMO&LS_cid=x&LS_cause=api"
        )
        let greeting = bench.lines(preflight)
        let session = String(greeting[0].split(separator: ",")[1])
        #expect(
            greeting == [
                "CONOK,\(session),50000,0,*", "SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1", "CONS,unlimited",
                "LOOP,0",
            ]
        )
        let stream = bench.post(
            "bind_session",
            "LS_session=\(session)&LS_content_length=10000&LS_send_sync=false&LS_cause=http.loop"
        )
        let head = bench.lines(stream)
        #expect(bench.streams.contains(stream))
        #expect(head[0] == "CONOK,\(session),50000,5000,*")
        #expect(head.last == "CONS,unlimited")
        #expect(head.filter { $0 == "NOOP,sending placeholder data" }.joined(separator: "\r\n").utf8.count >= 1_990)

        let control = bench.post(
            "control",
            """
            LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES&LS_snapshot=true
            LS_reqId=2&LS_op=add&LS_subId=2&LS_mode=MERGE&LS_group=nosuchitem&LS_schema=price&LS_data_adapter=QUOTES&LS_snapshot=true
            """,
            query: "LS_protocol=TLCP-2.5.0&LS_session=\(session)"
        )
        #expect(bench.lines(control) == ["REQOK,1", "REQERR,2,21,Bad Item Group name"])
        #expect(bench.lines(stream) == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered", "U,1,1,10.25"])

        var count = 0
        while bench.ended[stream] == nil, count < 2_000 {
            count += 1
            bench.publish("item1", ["Acme", "\(count)"], to: "QUOTES")
        }
        let body = bench.writes[stream, default: []].reduce(0) { $0 + $1.count }
        #expect(body <= 10_000 && body > 9_800)
        let flow = bench.lines(stream)
        #expect(flow.last == "LOOP,0")
        let rebound = bench.post(
            "bind_session",
            "LS_session=\(session)&LS_content_length=10000&LS_keepalive_millis=5000&LS_send_sync=false"
        )
        bench.publish("item1", ["Acme", "last"], to: "QUOTES")
        let rest = bench.lines(rebound).filter { $0.hasPrefix("U,") }
        // The line that did not fit is the first one; none is missing and none is repeated.
        #expect(flow.filter { $0.hasPrefix("U,") } + rest == (1...count).map { "U,1,1,\($0)" } + ["U,1,1,last"])
    }

    @Test func longPollingOverOneWebSocket() {
        let bench = ServerBench()
        bench.publish("news", ["older"], to: "NEWS")
        bench.publish("news", ["newer"], to: "NEWS")
        let session = bench.pollSession()
        let link = bench.openWebSocket()
        #expect(bench.lines(bench.say("wsok", on: link)) == ["WSOK"])
        bench.say(
            "bind_session\nLS_session=\(session)&LS_polling=true&LS_polling_millis=0&LS_idle_millis=19000&LS_cause=slow",
            on: link
        )
        #expect(
            bench.lines(link) == [
                "CONOK,\(session),50000,19000,*", "SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1",
                "CONS,unlimited",
            ]
        )
        bench.say(
            "control\nLS_reqId=8&LS_op=add&LS_subId=5&LS_mode=DISTINCT&LS_group=news&LS_schema=headline"
                + "&LS_data_adapter=NEWS&LS_snapshot=2&LS_ack=false",
            on: link
        )
        bench.advance(by: .milliseconds(10))
        #expect(
            bench.lines(link) == [
                "SUBOK,5,1,1", "CONF,5,unlimited,filtered", "U,5,1,older", "U,5,1,newer", "EOS,5,1", "LOOP,0",
            ]
        )
        bench.say("bind_session\nLS_polling=true&LS_polling_millis=0&LS_idle_millis=19000", on: link)
        #expect(bench.lines(link).first == "CONOK,\(session),50000,19000,*")
        bench.advance(by: .milliseconds(18_999))
        #expect(bench.lines(link).isEmpty)
        bench.advance(by: .milliseconds(1))
        #expect(bench.lines(link) == ["LOOP,0"])
        #expect(bench.closed[link] == nil)
    }

    @Test func recoveryWithALowerProgressive() {
        let bench = ServerBench()
        bench.publish("item1", ["Acme", "10.0"], to: "QUOTES")
        let (link, session) = bench.openSession("&LS_send_sync=false")
        _ = bench.subscribe(link, 1)
        for price in ["10.1", "10.2", "10.3"] { bench.publish("item1", ["Acme", price], to: "QUOTES") }
        #expect(bench.lines(link) == ["U,1,1,|10.1", "U,1,1,|10.2", "U,1,1,|10.3"])
        bench.hangUp(link)
        bench.publish("item1", ["Acme", "10.8"], to: "QUOTES")
        bench.install(Fault(.progress(-2)))
        let recovery = bench.post(
            "bind_session",
            "LS_session=\(session)&LS_recovery_from=6&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0&LS_cause=ws.error"
        )
        #expect(
            bench.lines(recovery) == [
                "CONOK,\(session),50000,0,*", "SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1", "CONS,unlimited",
                "PROG,4",
                "U,1,1,|10.2", "U,1,1,|10.3", "U,1,1,|10.8", "LOOP,0",
            ]
        )
        let again = bench.openWebSocket()
        bench.say("wsok", on: again)
        bench.say(
            "bind_session\nLS_session=\(session)&LS_keepalive_millis=5000&LS_send_sync=false&LS_cause=recovery.loop",
            on: again
        )
        bench.publish("item1", ["Acme", "10.9"], to: "QUOTES")
        #expect(
            bench.lines(again) == [
                "WSOK", "CONOK,\(session),50000,5000,*", "SERVNAME,Embedded test server", "CLIENTIP,127.0.0.1",
                "CONS,unlimited", "U,1,1,|10.9",
            ]
        )
    }

    @Test(arguments: [
        ("create_session\nLS_adapter_set=NOPE&LS_cid=x", "CONERR,2,Requested Adapter Set not available"),
        ("create_session\nLS_adapter_set=DEMO&LS_user=x&LS_password=y&LS_cid=x", "CONERR,1,User/password check failed"),
        ("bind_session\nLS_session=Sgone", "CONERR,20,Session not found"),
        ("bind_session", "CONERR,20,Session not found"),
        ("control\nLS_reqId=4&LS_session=Sgone&LS_op=destroy", "REQERR,4,20,Session not found"),
        ("nonsense\nLS_reqId=4", "ERROR,67,Malformed request"),
        ("create_session\nLS_adapter_set=DEMO", "CONERR,67,Missing LS_cid"),
    ])
    func refusals(message: String, answer: String) {
        let bench = ServerBench(ServerBench.still { $0.users = ["mia": "secret"] })
        let link = bench.openWebSocket()
        #expect(bench.lines(bench.say(message, on: link)) == [answer])
        #expect(bench.closed[link] == nil)
    }

    @Test func failuresOfASession() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say("bind_session\nLS_session=S2", on: link)
        #expect(bench.lines(link) == ["CONERR,69,A streaming is already in place"])
        bench.say("control\nLS_reqId=4&LS_subId=9&LS_op=delete", on: link)
        #expect(bench.lines(link) == ["REQERR,4,19,Specified subscription not found"])
        _ = bench.subscribe(link, 1, "&LS_requested_max_frequency=unfiltered")
        bench.say("control\nLS_reqId=5&LS_subId=1&LS_op=reconf&LS_requested_max_frequency=1.0", on: link)
        #expect(bench.lines(link) == ["REQERR,5,13,Reconfiguration not allowed"])
        bench.say("msg\nLS_reqId=8&LS_message=a&LS_sequence=q&LS_msg_prog=1", on: link)
        bench.say("msg\nLS_reqId=9&LS_message=ECHO%7C&LS_sequence=q&LS_msg_prog=4&LS_max_wait=500", on: link)
        #expect(bench.lines(link) == ["REQOK,8", "MSGDONE,q,1,a", "REQOK,9"])
        bench.advance(by: .milliseconds(500))
        #expect(bench.lines(link) == ["MSGFAIL,q,3,39,2", "MSGDONE,q,4,"])
        #expect(
            bench.lines(bench.post("heartbeat", "\n", query: "LS_protocol=TLCP-2.5.0&LS_session=Sgone")) == ["REQOK"]
        )
        bench.shutDown()
        #expect(bench.lines(link) == ["END,32,Server closing"])
    }
}
