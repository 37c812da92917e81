internal import TestSupport
internal import Testing

@testable internal import TLCP

struct RequestParserTests {
    private func webSocket(_ message: String) -> [RequestParser.Outcome] {
        RequestParser.parse(webSocketMessage: Array(message.utf8)[...])
    }

    private func http(
        _ name: RequestName,
        _ query: String = "LS_protocol=TLCP-2.5.0",
        _ body: String
    ) -> [RequestParser.Outcome] {
        RequestParser.parse(name, query: Array(query.utf8)[...], body: Array(body.utf8)[...])
    }

    /// The answers to refused requests; empty for accepted ones.
    private func answers(_ outcomes: [RequestParser.Outcome]) -> [String] {
        outcomes.map { outcome in
            guard case .failure(let refusal) = outcome else { return "" }
            let line = refusal.notification.encoded.dropLast(2)
            return String(decoding: line, as: UTF8.self)
        }
    }

    @Test(arguments: [
        ("control\r\nLS_op=delete&LS_subId=1", "ERROR,67,Missing LS_reqId"),
        ("control\r\nLS_reqId=a_b&LS_op=delete&LS_subId=1", "ERROR,67,Invalid value of LS_reqId"),
        ("control\r\nLS_reqId=&LS_op=delete&LS_subId=1", "ERROR,67,Invalid value of LS_reqId"),
        ("control\r\nLS_reqId=1", "REQERR,1,67,Missing LS_op"),
        ("control\r\nLS_reqId=1&LS_op=fly", "REQERR,1,67,Unknown LS_op"),
        ("control\r\nLS_reqId=1&LS_op=delete", "REQERR,1,67,Missing LS_subId"),
        ("control\r\nLS_reqId=1&LS_op=delete&LS_subId=0", "REQERR,1,65,Invalid value of LS_subId"),
        ("control\r\nLS_reqId=1&LS_op=delete&LS_subId=x", "REQERR,1,65,Invalid value of LS_subId"),
        ("control\r\nLS_reqId=1&LS_op=delete&LS_subId=1&LS_ack=yes", "REQERR,1,65,Invalid value of LS_ack"),
        ("control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_group=g&LS_schema=s", "REQERR,1,67,Missing LS_mode"),
        (
            "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=merge&LS_group=g&LS_schema=s",
            "REQERR,1,65,Invalid value of LS_mode"
        ),
        (
            "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=g&LS_schema=s&LS_snapshot=3",
            "REQERR,1,65,Invalid value of LS_snapshot"
        ),
        (
            "control\r\nLS_reqId=1&LS_op=reconf&LS_subId=1&LS_requested_max_frequency=-1",
            "REQERR,1,65,Invalid value of LS_requested_max_frequency"
        ),
        ("control\r\nLS_reqId=1&LS_op=%G1", "ERROR,65,Malformed percent escape"),
        ("control\r\nLS_reqId=1&LS_op", "ERROR,65,Parameter without a value"),
        ("control\r\nLS_reqId=1&LS_op=%FF", "ERROR,65,Malformed percent escape"),
        ("control\r\n", "ERROR,67,Missing LS_reqId"),
        ("control", "ERROR,67,Missing LS_reqId"),
        ("msg\r\nLS_reqId=1&LS_msg_prog=1", "REQERR,1,67,Missing LS_message"),
        ("msg\r\nLS_reqId=1&LS_message=a", "REQERR,1,67,Missing LS_msg_prog"),
        ("msg\r\nLS_reqId=1&LS_message=a&LS_outcome=false&LS_sequence=q", "REQERR,1,67,Missing LS_msg_prog"),
        ("msg\r\nLS_reqId=1&LS_message=a&LS_msg_prog=0", "REQERR,1,65,Invalid value of LS_msg_prog"),
        (
            "msg\r\nLS_reqId=1&LS_message=a&LS_msg_prog=1&LS_sequence=UNORDERED_MESSAGES",
            "REQERR,1,65,Invalid value of LS_sequence"
        ),
        ("create_session\r\nLS_user=x", "CONERR,67,Missing LS_cid"),
        ("create_session\r\nLS_cid=%", "CONERR,65,Malformed percent escape"),
        ("create_session\r\nLS_cid=x&LS_polling=1", "CONERR,65,Invalid value of LS_polling"),
        (
            "create_session\r\nLS_cid=x\r\nLS_op=delete",
            "CONERR,64,Unexpected error while initializing the session: Missing LS_subId"
        ),
        (
            "create_session\r\nLS_cid=x\r\nLS_subId=3&LS_mode=RAW",
            "CONERR,64,Unexpected error while initializing the session: subscription 3: Missing LS_op"
        ),
        ("bind_session\r\nLS_session=S&LS_recovery_from=-1", "CONERR,65,Invalid value of LS_recovery_from"),
        ("bind_session\r\nLS_session=S\r\nLS_session=T", "CONERR,67,Malformed request"),
        ("heartbeat\r\nLS_session", "ERROR,65,Parameter without a value"),
        ("fly\r\nLS_session=S", "ERROR,67,Malformed request"),
        ("", "ERROR,67,Malformed request"),
    ])
    func refusesMalformedRequestsWithAReason(message: String, answer: String) {
        #expect(answers(webSocket(message)) == [answer])
    }

    @Test(arguments: [
        "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_mode=RAW&LS_group=g&LS_schema=s&LS_requested_buffer_size=x",
        "msg\r\nLS_reqId=1&LS_message=a&LS_msg_prog=1&LS_max_wait=-1",
    ])
    func parametersWithoutMeaningAreIgnored(message: String) {
        #expect(answers(webSocket(message)) == [""])
    }

    @Test func everyLineOfABatchHasItsOwnOutcome() {
        let outcomes = webSocket(
            "control\r\nLS_reqId=1&LS_op=delete&LS_subId=1\r\nLS_reqId=2&LS_op=fly\r\n\r\nLS_reqId=4&LS_op=constrain\r\n"
        )
        #expect(answers(outcomes) == ["", "REQERR,2,67,Unknown LS_op", "ERROR,67,Missing LS_reqId", ""])
    }

    @Test(arguments: ["heartbeat", "heartbeat\r\n", "heartbeat\r\n\r\n", "heartbeat\n\n"])
    func acceptsEveryFormOfTheEmptyHeartbeat(message: String) {
        #expect(webSocket(message) == [.success(.heartbeat(HeartbeatRequest()))])
    }

    @Test(arguments: ["wsok", "wsok\r\n"])
    func acceptsEveryFormOfWsok(message: String) {
        #expect(webSocket(message) == [.success(.wsok)])
    }

    @Test func toleratesBareLineFeedsLowerCaseEscapesPlusesAndUnknownParameters() {
        let outcomes = webSocket(
            "msg\nLS_reqId=1&LS%5Fmessage=caff%c3%a8+%2b&LS_unknown=1&LS_msg_prog=3&&LS_msg_prog=4\n"
        )
        var expected = MessageRequest(requestID: RequestID(1), text: "caffè +")
        expected.progressive = 4
        #expect(outcomes == [.success(.message(expected))])
    }

    @Test(arguments: [
        "50% off", "a&b=c", "LS_op=destroy&LS_message=x", "one\r\ntwo\n\nLS_reqId=9", "\r", "a+b%41", "caffè €5 😀", "",
    ])
    func messagesThatAreNotEscapedAreReadByTheirLength(text: String) {
        let line = "LS_reqId=4&LS_msg_prog=1&LS_message=\(text)"
        let escaped = "LS_reqId=5&LS_msg_prog=2&LS_message=%25"
        var first = MessageRequest(requestID: RequestID(4), text: text)
        first.progressive = 1
        var second = MessageRequest(requestID: RequestID(5), text: "%")
        second.progressive = 2
        let marked = "LS_unq=\(line.utf16.count)&\(line)"
        #expect(webSocket("msg\r\n\(marked)") == [.success(.message(first))])
        #expect(
            webSocket("msg\r\n\(marked)\r\n\(escaped)\r\n\(marked)\r\n")
                == [.success(.message(first)), .success(.message(second)), .success(.message(first))]
        )
    }

    @Test(arguments: ["39", "41", "99999999999999999999", "-1", "x", ""])
    func linesWithAWrongLengthOfTheirMessageAreReadAsOthers(length: String) {
        let outcomes = webSocket("msg\r\nLS_unq=\(length)&LS_reqId=4&LS_msg_prog=1&LS_message=a%26")
        var expected = MessageRequest(requestID: RequestID(4), text: "a&")
        expected.progressive = 1
        #expect(outcomes == [.success(.message(expected))])
    }

    @Test func queryParametersAreDefaultsOfEveryLine() {
        let outcomes = http(
            .control,
            "LS_protocol=TLCP-2.5.0&LS_session=S%31",
            "LS_reqId=4&LS_op=delete&LS_subId=2\r\nLS_session=S2&LS_reqId=5&LS_op=constrain"
        )
        let delete = ControlRequest(
            requestID: RequestID(4),
            sessionID: SessionID("S1"),
            operation: .delete(DeleteRequest(subscriptionID: SubscriptionID(2)))
        )
        let constrain = ControlRequest(
            requestID: RequestID(5),
            sessionID: SessionID("S2"),
            operation: .constrain(ConstrainRequest(maxBandwidth: nil))
        )
        #expect(outcomes == [.success(.control(delete)), .success(.control(constrain))])
    }

    @Test func getCarriesEverythingInTheQuery() {
        let outcomes = http(
            .createSession,
            "LS_protocol=TLCP-2.5.0&LS_adapter_set=DEMO&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg",
            ""
        )
        var expected = CreateSessionRequest(connection: ConnectionParameters(.streaming()))
        expected.adapterSet = "DEMO"
        #expect(outcomes == [.success(.createSession(expected))])
    }

    @Test func firstLineWithAnOperationIsAComboOfOne() throws {
        let outcomes = webSocket("create_session\r\nLS_cid=x&LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=i&LS_schema=p")
        guard case .success(.createSession(let create)) = outcomes.first else {
            Issue.record("not a create_session")
            return
        }
        let add = AddRequest(subscriptionID: SubscriptionID(1), mode: .merge, group: "i", schema: "p")
        #expect(create.operations == [.add(add)])
    }

    @Test(arguments: ["", "&LS_op=constrain"])
    func creationMayRequestUnlimitedBandwidth(operation: String) {
        let outcomes = webSocket("create_session\r\nLS_cid=x&LS_requested_max_bandwidth=unlimited\(operation)")
        guard case .success(.createSession(let create)) = outcomes.first else {
            Issue.record("not a create_session")
            return
        }
        #expect(create.maxBandwidth == nil)
        #expect(answers(webSocket("create_session\r\nLS_cid=x&LS_requested_max_bandwidth=0\(operation)")).first != "")
    }

    @Test func unservedVersionsAreRefused() {
        #expect(
            answers(http(.createSession, "LS_protocol=TLCP-9.0.0", "LS_cid=x"))
                == ["CONERR,65,Unsupported protocol version: 9.0.0"]
        )
        #expect(
            answers(http(.control, "", "LS_reqId=1&LS_op=constrain"))
                == ["ERROR,65,Unsupported protocol version: none"]
        )
        #expect(answers(http(.bindSession, "LS_protocol=TLCP-2.1.0", "LS_session=S")) == [""])
    }

    @Test func randomMessagesNeverTrapAndAcceptedOnesComeBack() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "LS_reqId=", "LS_op=", "add", "delete", "destroy", "LS_subId=", "LS_mode=MERGE", "LS_group=a",
            "LS_schema=b",
            "LS_message=", "LS_msg_prog=", "LS_unq=20&", "LS_cid=x", "LS_polling=true", "&", "&", "=", "\r\n", "1",
            "%41", "%", "true",
        ]
        for _ in 0..<5_000 {
            let name = RequestName.allCases.randomElement(using: &generator)?.rawValue ?? ""
            var message = Array("\(name)\r\n".utf8)
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                message += Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
            message += generator.bytes(from: "&=%41", upTo: 3)
            for case .success(let request) in RequestParser.parse(webSocketMessage: message[...]) {
                let again = RequestParser.parse(webSocketMessage: request.webSocketMessage[...])
                #expect(again == [.success(request)], "seed \(seed)")
            }
        }
    }
}
