internal import DemoServer
internal import Primitives
internal import Testing

struct RequestTests {
    private static let create = "LS_adapter_set=DEMO&LS_cid=x&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"

    @Test func unknownPathsAndMethodsGetTheirStatus() {
        let bench = ServerBench()
        for path in ["/", "/lightstreamer/nonsense.txt", "/other/lightstreamer/control.txt", "/demo/census"] {
            #expect(bench.status(bench.post(path, "")) == 404)
        }
        #expect(bench.status(bench.post("control", "", method: "PUT")) == 405)
        #expect(bench.machine.census.connections == 0)
    }

    @Test func pathPrefixIsPartOfThePath() {
        let bench = ServerBench(ServerBench.still { $0.pathPrefix = "/push" })
        #expect(bench.status(bench.post("create_session", RequestTests.create)) == 404)
        #expect(bench.status(bench.post("/push/lightstreamer/create_session.txt", RequestTests.create)) == 200)
    }

    @Test func oversizeRequestsAreRefused() {
        let bench = ServerBench(ServerBench.still { $0.limits.request = 200 })
        let body = "LS_reqId=1&LS_message=" + String(repeating: "x", count: 200)
        let link = bench.post("msg", body)
        let answer = bench.answers[link]
        #expect(answer?.status == 413 && answer?.closesSocket == true)
        let (socket, _) = bench.openSession()
        bench.say("msg\n" + body, on: socket)
        #expect(bench.closed[socket] == 1_009)
        #expect(bench.machine.census.boundSessions == 0)
    }

    /// The rest of a batch was executed for a session that had ended, and not answered on a WebSocket that was about to close.
    @Test(arguments: [
        (
            "control\nLS_reqId=1&LS_op=destroy\nLS_reqId=2&LS_op=constrain",
            ["REQOK,1", "END,31,Destroy invoked by client", "REQERR,2,20,Session not found"]
        ),
        (
            "control\nLS_reqId=1&LS_op=force_rebind&LS_close_socket=true\nLS_reqId=2&LS_op=constrain",
            ["REQOK,1", "LOOP,0", "REQOK,2"]
        ),
        (
            "msg\nLS_reqId=1&LS_message=END%7C48%7Cx&LS_outcome=false\nLS_reqId=2&LS_message=a&LS_outcome=false",
            ["REQOK,1", "END,48,x", "REQERR,2,20,Session not found"]
        ),
    ])
    func everyRequestOfABatchIsAnswered(batch: String, lines: [String]) {
        let (bench, link, _) = ServerBench.withSession()
        #expect(bench.lines(bench.say(batch, on: link)) == lines)
        #expect(bench.closed[link] == 1_000)
    }

    @Test func nothingIsDoneForASessionThatHasEndedInTheSameBatch() {
        let (bench, session) = ServerBench.withPollSession()
        let requests = "LS_reqId=1&LS_op=destroy\nLS_reqId=2&LS_op=destroy\nLS_reqId=3&LS_op=constrain"
        let answer = bench.post("control", requests, query: "LS_protocol=TLCP-2.5.0&LS_session=\(session)")
        let refusals = [2, 3].map { "REQERR,\($0),20,Session not found" }
        #expect(bench.lines(answer) == ["REQOK,1"] + refusals)
    }

    @Test func getCarriesEverythingInItsQuery() {
        let bench = ServerBench()
        let link = bench.post(
            "create_session",
            "",
            query: "LS_protocol=TLCP-2.5.0&\(RequestTests.create)",
            method: "GET"
        )
        #expect(bench.lines(link).first?.hasPrefix("CONOK,") == true)
    }

    @Test(arguments: ["2.1.0", "2.2.0", "2.3.0", "2.4.0", "2.5.0", "2.5.7"])
    func everyVersionOfTheSameMajorIsServed(version: String) {
        let bench = ServerBench()
        let http = bench.post("create_session", RequestTests.create, query: "LS_protocol=TLCP-\(version)")
        #expect(bench.lines(http).first?.hasPrefix("CONOK,") == true)
        let link = bench.openWebSocket(subprotocol: "TLCP-\(version).lightstreamer.com")
        #expect(bench.lines(bench.say(ServerBench.create, on: link)).first?.hasPrefix("CONOK,") == true)
    }

    @Test(arguments: [("2.3.0", false, false), ("2.4.0", true, false), ("2.5.0", true, true)])
    func clientsGetWhatTheirVersionHas(version: String, diffs: Bool, responses: Bool) {
        let bench = ServerBench(
            ServerBench.still {
                $0.manualFeeds["QUOTES"]?.fieldDiffs = ["price": .tlcpDiff]
            }
        )
        let stem = String(repeating: "long ", count: 20)
        let body = "LS_adapter_set=DEMO&LS_cid=x"
        let http = bench.post("create_session", body, query: "LS_protocol=TLCP-\(version)")
        let webSocket = bench.openWebSocket(subprotocol: "TLCP-\(version).lightstreamer.com")
        bench.say("create_session\n\(body)", on: webSocket)
        for link in [http, webSocket] {
            let session = bench.lines(link)[0].split(separator: ",")[1]
            let query = "LS_protocol=TLCP-\(version)&LS_session=\(session)"
            let add = "LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES"
            bench.post("control", "LS_reqId=1&\(add)", query: query)
            bench.publish("item1", [nil, stem + "1"], to: "QUOTES")
            bench.publish("item1", [nil, stem + "2"], to: "QUOTES")
            bench.post("msg", "LS_reqId=2&LS_message=hello&LS_msg_prog=1", query: query)
            let lines = bench.lines(link)
            #expect(lines.contains { $0.hasPrefix("U,1,1,^T") } == diffs)
            #expect(lines.last == (responses ? "MSGDONE,*,1,hello" : "MSGDONE,*,1"))
        }
    }

    @Test func itemsOfAllSessionsAreLimited() {
        let bench = ServerBench(ServerBench.still { $0.limits.items = 3 })
        let (first, _) = bench.openSession()
        let (second, _) = bench.openSession()
        #expect(bench.subscribe(first, 1, group: "item1%20item2").first == "SUBOK,1,2,2")
        #expect(bench.subscribe(second, 1, group: "item1%20item2") == ["REQERR,1,30,Too many subscriptions"])
        // The client has not received the response to the first request.
        #expect(bench.subscribe(first, 1, group: "item1%20item2") == [])
        bench.say("control\nLS_reqId=2&LS_op=delete&LS_subId=1", on: first)
        #expect(bench.subscribe(second, 2, group: "item1%20item2").first == "SUBOK,2,2,2")
    }

    @Test func otherVersionsAreRefusedInTheProtocolsOwnWords() {
        let bench = ServerBench()
        let refusal = "65,Unsupported protocol version: 3.0.0"
        #expect(
            bench.lines(bench.post("create_session", RequestTests.create, query: "LS_protocol=TLCP-3.0.0")) == [
                "CONERR,\(refusal)"
            ]
        )
        #expect(
            bench.lines(bench.post("control", "LS_reqId=1", query: "LS_protocol=TLCP-3.0.0")) == ["ERROR,\(refusal)"]
        )
        #expect(bench.lines(bench.post("control", "LS_reqId=1", query: "")).first?.hasPrefix("ERROR,65,") == true)
        let link = bench.openWebSocket(subprotocol: "TLCP-3.0.0.lightstreamer.com")
        #expect(bench.lines(bench.say(ServerBench.create, on: link)) == ["CONERR,\(refusal)"])
    }

    @Test func missingVersionIsRefusedOnBothTransports() {
        let bench = ServerBench()
        let refusal = "CONERR,65,Unsupported protocol version: none"
        #expect(bench.lines(bench.post("create_session", RequestTests.create, query: "")) == [refusal])
        let link = bench.openWebSocket(subprotocol: nil)
        #expect(bench.lines(bench.say(ServerBench.create, on: link)) == [refusal])
    }

    @Test(arguments: [
        ("LS_op=add", "ERROR,67,Missing LS_reqId"), ("LS_reqId=a-b&LS_op=add", "ERROR,67,Invalid value of LS_reqId"),
        ("LS_reqId=1", "REQERR,1,67,Missing LS_op"), ("LS_reqId=1&LS_op=dance", "REQERR,1,67,Unknown LS_op"),
        ("LS_reqId=1&LS_op=%G1", "ERROR,65,Malformed percent escape"),
        ("LS_reqId", "ERROR,65,Parameter without a value"),
        ("LS_reqId=1&LS_op=destroy", "REQERR,1,20,Session not found"),
        ("LS_reqId=1&LS_op=delete", "REQERR,1,20,Session not found"),
        ("LS_reqId=1&LS_op=delete&LS_subId=x&LS_session=S", "REQERR,1,20,Session not found"),
        ("LS_reqId=1&LS_op=activate&LS_session=S", "REQERR,1,20,Session not found"),
        (
            "LS_reqId=1&LS_op=register&PN_type=Apple&PN_appId=a&PN_deviceToken=t&LS_session=S",
            "REQERR,1,20,Session not found"
        ),
    ])
    func malformedControlsAreAnswered(parameters: String, answer: String) {
        let bench = ServerBench()
        #expect(bench.lines(bench.post("control", parameters)) == [answer])
        let link = bench.openWebSocket()
        #expect(bench.lines(bench.say("control\n" + parameters, on: link)) == [answer])
    }

    @Test func sessionIsLookedForBeforeTheParametersOfAMessage() {
        let bench = ServerBench()
        let message = "LS_reqId=1&LS_message=hello&LS_msg_prog=0"
        #expect(bench.lines(bench.post("msg", message + "&LS_session=S")) == ["REQERR,1,20,Session not found"])
        let (link, _) = bench.openSession()
        #expect(bench.lines(bench.say("msg\n" + message, on: link)) == ["REQERR,1,65,Invalid value of LS_msg_prog"])
        bench.say("control\nLS_reqId=2&LS_op=delete", on: link)
        #expect(bench.lines(link) == ["REQERR,2,67,Missing LS_subId"])
    }

    @Test func batchesAreAnsweredLineByLine() {
        let (bench, session) = ServerBench.withPollSession()
        let link = bench.post(
            "control",
            "LS_reqId=1&LS_op=constrain&LS_requested_max_bandwidth=40.0\nLS_reqId=2&LS_op=nonsense\n\nLS_reqId=4&LS_subId=1&LS_op=delete\n",
            query: "LS_protocol=TLCP-2.5.0&LS_session=\(session)"
        )
        #expect(
            bench.lines(link) == [
                "REQOK,1", "REQERR,2,67,Unknown LS_op", "ERROR,67,Missing LS_reqId",
                "REQERR,4,19,Specified subscription not found",
            ]
        )
    }

    @Test func webSocketSessionIsControlledOverHTTPToo() {
        let (bench, link, session) = ServerBench.withSession()
        let control = bench.post(
            "control",
            "LS_session=\(session)&LS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=item1&LS_schema=price&LS_data_adapter=QUOTES&LS_ack=false"
        )
        #expect(bench.lines(control) == ["REQOK,1"])
        #expect(bench.lines(link) == ["SUBOK,1,1,1", "CONF,1,unlimited,filtered"])
    }

    @Test func sessionsAreLimited() {
        let bench = ServerBench(ServerBench.still { $0.limits.sessions = 1 })
        _ = bench.openSession()
        #expect(
            bench.lines(bench.post("create_session", RequestTests.create)) == ["CONERR,8,Session count limit reached"]
        )
    }

    @Test func mobilePushIsRefusedOrGrantedAsConfigured() {
        let register = "LS_op=register&PN_type=Google&PN_appId=app&PN_deviceToken=token"
        let refusing = ServerBench()
        let (plain, _) = refusing.openSession()
        refusing.say("control\nLS_reqId=1&\(register)", on: plain)
        #expect(refusing.lines(plain) == ["REQERR,1,40,MPN Module disabled"])

        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.mobilePush = .devicesOnly })
        bench.say("control\nLS_reqId=1&\(register)", on: link)
        let lines = bench.lines(link)
        #expect(lines[0] == "REQOK,1")
        let parts = lines[1].split(separator: ",").map(String.init)
        #expect(parts[0] == "MPNREG" && parts[1].utf8.count == 36)
        bench.say("control\nLS_reqId=2&LS_op=reset_badge&PN_deviceId=\(parts[1])", on: link)
        #expect(bench.lines(link) == ["REQOK,2", "MPNZERO,\(parts[1])"])
        bench.say("control\nLS_reqId=3&LS_op=reset_badge&PN_deviceId=other", on: link)
        #expect(bench.lines(link) == ["REQERR,3,45,Unknown device ID"])
        bench.say("control\nLS_reqId=4&LS_op=deactivate&PN_deviceId=\(parts[1])", on: link)
        #expect(bench.lines(link) == ["REQERR,4,40,MPN Module disabled"])
    }

    @Test func theAdapterOfARegistrationHasTheStateOfTheDevice() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.mobilePush = .devicesOnly })
        bench.say("control\nLS_reqId=1&LS_op=register&PN_type=Google&PN_appId=app&PN_deviceToken=token", on: link)
        let parts = bench.lines(link).last?.split(separator: ",").map(String.init) ?? []
        let (device, adapter) = (parts[1], parts[2])
        let more = "&LS_data_adapter=\(adapter)&LS_requested_max_frequency=unfiltered&LS_snapshot=true&LS_ack=false"
        let add = "LS_op=add&LS_mode=MERGE&LS_group=DEV-\(device)&LS_schema=status%20status_timestamp"
        bench.say("control\nLS_reqId=2&LS_subId=1&\(add)\(more)", on: link)
        #expect(bench.lines(link) == ["SUBOK,1,1,2", "CONF,1,unlimited,unfiltered", "U,1,1,ACTIVE|0"])
        let list = "LS_op=add&LS_mode=COMMAND&LS_group=SUBS-\(device)&LS_schema=key%20command"
        bench.say("control\nLS_reqId=3&LS_subId=2&\(list)\(more)", on: link)
        #expect(bench.lines(link) == ["SUBCMD,2,1,2,1,2", "CONF,2,unlimited,unfiltered", "EOS,2,1"])
        bench.say("control\nLS_reqId=4&LS_subId=3&LS_op=add&LS_mode=MERGE&LS_group=x&LS_schema=status\(more)", on: link)
        #expect(bench.lines(link) == ["REQERR,4,21,Bad Item Group name"])
    }

    @Test(arguments: ["register", "reset_badge", "activate", "pn_reconf", "deactivate"])
    func mobilePushIsRefusedWithoutTheEndOfTheSession(operation: String) {
        let (bench, link, _) = ServerBench.withSession()
        for parameters in ["", "&PN_deviceId=device"] {
            bench.say("control\nLS_reqId=1&LS_op=\(operation)\(parameters)", on: link)
            #expect(bench.lines(link) == ["REQERR,1,40,MPN Module disabled"])
        }
    }

    @Test(arguments: [
        ("register&PN_appId=a&PN_deviceToken=t", "REQERR,1,67,Missing PN_type"),
        ("register&PN_type=Apple&PN_deviceToken=t", "REQERR,1,67,Missing PN_appId"),
        ("register&PN_type=Apple&PN_appId=a", "REQERR,1,67,Missing PN_deviceToken"),
        ("register&PN_type=Other&PN_appId=a&PN_deviceToken=t", "REQERR,1,42,Unknown platform"),
        ("reset_badge", "REQERR,1,67,Missing PN_deviceId"),
    ])
    func parametersOfMobilePushAreNeeded(operation: String, answer: String) {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.mobilePush = .devicesOnly })
        #expect(bench.lines(bench.say("control\nLS_reqId=1&LS_op=\(operation)", on: link)) == [answer])
    }

    @Test func arbitraryBytesNeverTrap() {
        var generator = SplitMix64(seed: 20_260_101)
        let words = [
            "control", "msg", "\r\n", "LS_reqId=1", "&", "LS_op=add", "=", "%", "%zz", "LS_subId=",
            "99999999999999999999", "-1",
            "LS_mode=COMMAND", "LS_group=item1", "LS_schema=key%20command", "bind_session", "create_session",
            "LS_cid=x",
            "LS_recovery_from=", "LS_polling=true", "LS_polling_millis=", "\u{0}", "é", "LS_max_wait=", "LS_msg_prog=",
            "LS_sequence=q",
            "LS_message=DELAY|", "9223372036854775807", "LS_session=", "LS_requested_max_frequency=", "0.0000000000001",
            "heartbeat", "wsok", "LS_adapter_set=DEMO",
        ]
        for _ in 0..<500 {
            let (bench, link, _) = ServerBench.withSession()
            for _ in 0..<3 {
                let count = Int.random(in: 1...14, using: &generator)
                bench.say((0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined(), on: link)
            }
            bench.advance(by: .seconds(40))
        }
    }
}
