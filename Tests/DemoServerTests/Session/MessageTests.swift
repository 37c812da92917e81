internal import DemoServer
internal import Testing

struct MessageTests {
    private func message(_ id: Int, _ text: String, _ more: String) -> String {
        "msg\nLS_reqId=\(id)&LS_message=\(text)\(more)"
    }

    @Test func sequencesAreProcessedInOrderWhateverTheOrderOfArrival() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "c", "&LS_sequence=q&LS_msg_prog=3"), on: link)
        bench.say(message(2, "b", "&LS_sequence=q&LS_msg_prog=2"), on: link)
        #expect(bench.lines(link) == ["REQOK,1", "REQOK,2"])
        bench.say(message(3, "a", "&LS_sequence=q&LS_msg_prog=1"), on: link)
        #expect(bench.lines(link) == ["REQOK,3", "MSGDONE,q,1,a", "MSGDONE,q,2,b", "MSGDONE,q,3,c"])
    }

    @Test func aSingleMissingNumberIsSkippedWithItsOwnCode() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "b", "&LS_sequence=q&LS_msg_prog=2&LS_max_wait=100"), on: link)
        bench.advance(by: .milliseconds(100))
        #expect(
            bench.lines(link) == [
                "REQOK,1", "MSGFAIL,q,1,38,The specified progressive number has been skipped by timeout",
                "MSGDONE,q,2,b",
            ]
        )
        for number in 1...2 { bench.say(message(number + 1, "a", "&LS_sequence=q&LS_msg_prog=\(number)"), on: link) }
        // Number 2 was received for certain; number 1 was skipped.
        #expect(
            bench.lines(link) == [
                "REQERR,2,32,Message progressive too low", "REQERR,3,33,Message progressive too low",
            ]
        )
    }

    @Test func repetitionsAreRefusedAsDuplicates() {
        let (bench, link, _) = ServerBench.withSession()
        for id in 1...2 { bench.say(message(id, "b", "&LS_sequence=q&LS_msg_prog=2"), on: link) }
        #expect(bench.lines(link) == ["REQOK,1", "REQERR,2,33,Message progressive too low"])
        for id in 3...4 { bench.say(message(id, "u", "&LS_msg_prog=1"), on: link) }
        #expect(bench.lines(link) == ["REQOK,3", "MSGDONE,*,1,u", "REQERR,4,32,Message progressive too low"])
    }

    @Test func messageWithoutOutcomeReportsNothing() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "x", "&LS_outcome=false&LS_ack=false"), on: link)
        bench.say(message(2, "x", "&LS_outcome=false&LS_sequence=q&LS_msg_prog=1"), on: link)
        #expect(bench.lines(link) == ["REQOK,2"])
    }

    @Test(arguments: [
        ("LS_message=x&LS_sequence=q", "67,Missing LS_msg_prog"), ("LS_message=x", "67,Missing LS_msg_prog"),
        ("LS_message=x&LS_sequence=UNORDERED_MESSAGES&LS_msg_prog=1", "65,Invalid value of LS_sequence"),
        ("LS_msg_prog=1", "67,Missing LS_message"),
    ])
    func malformedMessagesAreRefused(parameters: String, answer: String) {
        let (bench, link, _) = ServerBench.withSession()
        #expect(bench.lines(bench.say("msg\nLS_reqId=1&\(parameters)", on: link)) == ["REQERR,1,\(answer)"])
    }

    @Test func chatIsPublishedToEverybody() {
        let bench = ServerBench()
        let (speaker, _) = bench.openSession()
        let (listener, _) = bench.openSession()
        let lines = bench.subscribeList(listener, "chat_room", schema: "message%20IP", adapter: "CHAT_ROOM")
        #expect(lines.suffix(2) == ["U,1,1,Welcome to the demo chat room|127.0.0.1", "EOS,1,1"])
        bench.say(message(1, "CHAT%7Ccaff%C3%A8%20%7C%205%25", "&LS_msg_prog=1"), on: speaker)
        #expect(bench.lines(speaker) == ["REQOK,1", "MSGDONE,*,1,"])
        #expect(bench.lines(listener) == ["U,1,1,caffè %7C 5%25|"])
    }

    @Test(arguments: [
        ("DELAY%7C500%7CCHAT%7Clate", "&LS_msg_prog=1"),
        ("CHAT%7Clate", "&LS_sequence=q&LS_msg_prog=2&LS_max_wait=500"),
    ])
    func chatThatWaitedHasTheAddressOfItsSender(text: String, more: String) {
        let bench = ServerBench()
        let (speaker, _) = bench.openSession()
        let (listener, _) = bench.openSession()
        bench.subscribeList(listener, "chat_room", schema: "IP%20message", adapter: "CHAT_ROOM", "&LS_snapshot=false")
        bench.say(message(1, text, more), on: speaker)
        #expect(bench.lines(listener).isEmpty)
        bench.advance(by: .milliseconds(500))
        #expect(bench.lines(listener) == ["U,1,1,127.0.0.1|late"])
    }

    @Test func messagesCanFailAndTakeTheirTime() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "DELAY%7C500%7CFAIL%7C-3%7Cno%2C%20never", "&LS_sequence=q&LS_msg_prog=1"), on: link)
        bench.say(message(2, "after", "&LS_sequence=q&LS_msg_prog=2"), on: link)
        #expect(bench.lines(link) == ["REQOK,1", "REQOK,2"])
        bench.advance(by: .milliseconds(500))
        #expect(bench.lines(link) == ["MSGFAIL,q,1,-3,no%2C never", "MSGDONE,q,2,after"])
    }

    @Test func messageWithoutSequenceDelaysNoOther() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "DELAY%7C500%7Clast", "&LS_msg_prog=1"), on: link)
        bench.say(message(2, "DELAY%7C100%7CDELAY%7C100%7Cnext", "&LS_msg_prog=2"), on: link)
        bench.say(message(3, "first", "&LS_msg_prog=3"), on: link)
        #expect(bench.lines(link) == ["REQOK,1", "REQOK,2", "REQOK,3", "MSGDONE,*,3,first"])
        bench.advance(by: .milliseconds(199))
        #expect(bench.lines(link).isEmpty)
        bench.advance(by: .milliseconds(1))
        #expect(bench.lines(link) == ["MSGDONE,*,2,next"])
        bench.advance(by: .milliseconds(300))
        #expect(bench.lines(link) == ["MSGDONE,*,1,last"])
    }

    @Test func messagesWithoutSequenceThatTakeTimeAreLimited() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.limits.waitingMessages = 1 })
        for id in 1...3 { bench.say(message(id, "DELAY%7C500%7Cx", "&LS_msg_prog=\(id)"), on: link) }
        #expect(bench.lines(link) == ["REQOK,1", "REQOK,2", "REQERR,3,34,Too many messages are waiting"])
    }

    @Test func messageCanEndTheSession() {
        let (bench, link, _) = ServerBench.withSession()
        bench.say(message(1, "END%7C48%7Crefresh", "&LS_outcome=false"), on: link)
        #expect(bench.lines(link) == ["REQOK,1", "END,48,refresh"])
    }

    @Test func outcomesWaitForTheStreamAndAreReplayed() {
        let (bench, session) = ServerBench.withPollSession()
        let answer = bench.post(
            "msg",
            "LS_reqId=1&LS_message=a&LS_msg_prog=1",
            query: "LS_protocol=TLCP-2.5.0&LS_session=\(session)"
        )
        #expect(bench.lines(answer) == ["REQOK,1"])
        let first = bench.post("bind_session", "LS_session=\(session)")
        #expect(bench.lines(first).last == "MSGDONE,*,1,a")
        bench.hangUp(first)
        let second = bench.post("bind_session", "LS_session=\(session)&LS_recovery_from=0")
        #expect(bench.lines(second).suffix(2) == ["PROG,0", "MSGDONE,*,1,a"])
    }

    @Test func tooManyWaitingMessagesAreRefused() {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.limits.waitingMessages = 2 })
        for id in 2...4 { bench.say(message(id, "x", "&LS_sequence=q&LS_msg_prog=\(id)"), on: link) }
        #expect(bench.lines(link) == ["REQOK,2", "REQOK,3", "REQERR,4,34,Too many messages are waiting"])
    }

    @Test(arguments: [("&LS_sequence=q", 33), ("", 32)])
    func repetitionsAreDuplicatesAtTheLimits(sequence: String, code: Int) {
        let (bench, link, _) = ServerBench.withSession(ServerBench.still { $0.limits.waitingMessages = 1 })
        for (id, number) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 2), (6, 4)] {
            bench.say(message(id, "DELAY%7C500%7Cx", "\(sequence)&LS_msg_prog=\(number)"), on: link)
        }
        let answers = bench.lines(link)
        #expect(answers.prefix(2) == ["REQOK,1", "REQOK,2"])
        #expect(
            answers.suffix(3) == [
                "REQERR,4,34,Too many messages are waiting", "REQERR,5,\(code),Message progressive too low",
                "REQERR,6,34,Too many messages are waiting",
            ]
        )
    }

    @Test func greatestNumberIsRefused() {
        let (bench, link, _) = ServerBench.withSession()
        let number = "&LS_msg_prog=9223372036854775807&LS_max_wait=0"
        bench.say(message(1, "x", "&LS_sequence=q" + number), on: link)
        bench.say(message(2, "x", number), on: link)
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link).map { $0.prefix(12) } == ["REQERR,1,34,", "REQERR,2,34,"])
        bench.say(message(3, "x", "&LS_sequence=q&LS_max_wait=0&LS_msg_prog=9223372036854775806"), on: link)
        bench.advance(by: .seconds(1))
        #expect(bench.lines(link).last == "MSGDONE,q,9223372036854775806,x")
    }
}
