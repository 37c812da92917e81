internal import SessionCore
internal import TLCP
internal import Testing

/// Messages from their acceptance to their outcome.
struct MessageLedgerTests {
    // MARK: - Requests

    @Test func theFourKindsAreWrittenForAWebSocket() {
        var bench = MessageBench()
        bench.message("a b", "seq", timeout: 2)
        bench.message("c")
        bench.message("d", "seq", hasDelegate: false)
        bench.message("e", timeout: 2, hasDelegate: false)
        #expect(
            bench.send() == [
                "LS_reqId=1&LS_message=a%20b&LS_sequence=seq&LS_msg_prog=1&LS_max_wait=2000",
                "LS_reqId=2&LS_message=c&LS_msg_prog=1",
                "LS_reqId=3&LS_message=d&LS_outcome=false&LS_sequence=seq&LS_msg_prog=2",
                "LS_reqId=4&LS_message=e&LS_outcome=false&LS_ack=false",
            ]
        )
    }

    @Test func overHTTPEverythingIsAcknowledged() {
        var bench = MessageBench()
        bench.message("e", hasDelegate: false)
        #expect(bench.post() == ["LS_reqId=1&LS_message=e&LS_outcome=false"])
        #expect(bench.accept(1) == [])
        #expect(bench.unfinished() == 0)
    }

    @Test func reservedSequenceNameIsNoSequence() {
        var bench = MessageBench()
        bench.message("a", "UNORDERED_MESSAGES", timeout: 3)
        bench.message("b")
        #expect(bench.send() == ["LS_reqId=1&LS_message=a&LS_msg_prog=1", "LS_reqId=2&LS_message=b&LS_msg_prog=2"])
    }

    @Test(arguments: [(0.0, "&LS_max_wait=0"), (1.5, "&LS_max_wait=1500"), (-1, ""), (nil, "")] as [(Double?, String)])
    func timeoutIsWrittenUnlessNegative(timeout: Double?, expected: String) {
        var bench = MessageBench()
        bench.message("a", "s", timeout: timeout)
        #expect(bench.send() == ["LS_reqId=1&LS_message=a&LS_sequence=s&LS_msg_prog=1" + expected])
    }

    @Test(arguments: [Double.infinity, 1e300, .nan])
    func absurdTimeoutDoesNotTrap(timeout: Double) {
        var bench = MessageBench()
        bench.message("a", "s", timeout: timeout)
        #expect(bench.send().count == 1)
    }

    @Test(arguments: [
        ("seq", true), ("a_1", true), ("_", true), ("0", true), ("", false), ("a b", false), ("é", false),
        ("a-b", false),
        ("UNORDERED_MESSAGES", true),
    ])
    func sequenceNamesAreLettersDigitsAndUnderscores(name: String, expected: Bool) {
        #expect(MessageLedger.isSequenceName(name) == expected)
    }

    @Test func unansweredMessageIsWrittenAgainWithTheSameNumber() {
        var bench = MessageBench()
        bench.message("a", "s")
        bench.message("b", "s")
        _ = bench.send()
        #expect(bench.accept(2) == [])
        bench.ledger.channelLost()
        #expect(bench.send() == ["LS_reqId=3&LS_message=a&LS_sequence=s&LS_msg_prog=1"])
        #expect(bench.accept(1) == nil, "the answer to an earlier copy")
        #expect(bench.accept(3) == [])
        bench.ledger.channelLost()
        #expect(bench.send() == [])
    }

    @Test func fireAndForgetIsFinishedOnceItIsWrittenOnAWebSocket() {
        var bench = MessageBench()
        bench.message("a", hasDelegate: false)
        _ = bench.send()
        #expect(bench.unfinished() == 0)
        #expect(bench.released() == [1])
        #expect(bench.released() == [])
        #expect(bench.refuse(1, 34) == nil)
        bench.ledger.channelLost()
        #expect(bench.send() == [])
    }

    @Test func whatDoesNotFitStaysPendingInOrder() {
        var bench = MessageBench()
        for text in ["a", "b", "c"] { bench.message(text, hasDelegate: false) }
        #expect(bench.post(atMost: 1) == ["LS_reqId=1&LS_message=a&LS_outcome=false"])
        #expect(
            bench.post() == ["LS_reqId=3&LS_message=b&LS_outcome=false", "LS_reqId=4&LS_message=c&LS_outcome=false"]
        )
    }

    @Test func namedMessageWithoutDelegateIsFinishedByItsAnswer() {
        var bench = MessageBench()
        bench.message("a", "s", hasDelegate: false)
        bench.message("b", "s", hasDelegate: false)
        _ = bench.send()
        #expect(bench.accept(1) == [])
        #expect(bench.refuse(2, 34) == [])
        #expect(bench.unfinished() == 0)
    }

    // MARK: - Outcomes

    @Test(arguments: [
        ("MSGDONE,*,1,fine", "1 processed 'fine'"), ("MSGDONE,*,1,", "1 processed ''"),
        ("MSGFAIL,*,1,38,skipped", "1 discarded"), ("MSGFAIL,*,1,39,1", "1 discarded"),
        ("MSGFAIL,*,1,0,zero", "1 denied 0 zero"), ("MSGFAIL,*,1,-7,no%2C never", "1 denied -7 no, never"),
        ("MSGFAIL,*,1,34,error", "1 failed"), ("MSGFAIL,*,1,35,error", "1 failed"),
    ])
    func outcomeIsTold(line: String, expected: String) throws {
        var bench = MessageBench()
        bench.message()
        _ = bench.send()
        #expect(try bench.receive(line) == [expected])
        #expect(try bench.receive(line) == [])
        #expect(bench.accept(1) == nil)
        #expect(bench.end() == [])
    }

    @Test(arguments: [32, 33])
    func answersToDuplicatesReleaseTheMessage(code: Int) throws {
        var bench = MessageBench()
        bench.message()
        bench.message()
        _ = bench.send()
        #expect(try bench.receive("MSGFAIL,*,1,\(code),late") == ["1 released"])
        #expect(bench.refuse(2, code) == ["2 released"])
        #expect(bench.unfinished() == 0)
        #expect(bench.end() == [])
    }

    @Test func outcomeAfterTheReportOfADuplicateIsIgnored() throws {
        var bench = MessageBench()
        bench.message()
        _ = bench.post()
        bench.ledger.channelLost()
        _ = bench.post()
        #expect(bench.refuse(2, 33) == ["1 released"])
        bench.ledger.channelLost()
        #expect(bench.post() == [])
        #expect(try bench.receive("MSGDONE,*,1,ok") == [])
    }

    @Test(arguments: [
        (34, "1 failed"), (38, "1 failed"), (68, "1 failed"), (0, "1 denied 0 no"), (-1, "1 denied -1 no"),
    ])
    func refusedMessageIsTold(code: Int, expected: String) {
        var bench = MessageBench()
        bench.message()
        _ = bench.send()
        #expect(bench.refuse(1, code) == [expected])
        #expect(bench.end() == [])
    }

    @Test func outcomeAfterTheAcknowledgementIsTold() throws {
        var bench = MessageBench()
        bench.message("a", "s")
        _ = bench.send()
        #expect(bench.accept(1) == [])
        #expect(try bench.receive("MSGDONE,s,1,r") == ["1 processed 'r'"])
    }

    @Test func traceOfASkippedRunRuns() throws {
        var bench = MessageBench()
        for text in ["foo1", "foo2", "foo3"] { bench.message(text, "seq") }
        #expect(bench.send().last == "LS_reqId=3&LS_message=foo3&LS_sequence=seq&LS_msg_prog=3")
        #expect(try bench.receive("MSGFAIL,seq,3,39,2") == ["2 discarded", "3 discarded"])
        #expect(try bench.receive("MSGDONE,seq,1,") == ["1 processed ''"])
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "0", "-5", "many", ""])
    func absurdRunIsBoundedByTheNumbersGivenOut(count: String) throws {
        var bench = MessageBench()
        bench.message("a", "s")
        _ = bench.send()
        for number in [Int.min, -1, 0] {
            #expect(bench.receive(.msgFail(sequence: "s", progressive: number, code: 39, message: count)) == [])
        }
        #expect(bench.receive(.msgFail(sequence: "other", progressive: 4, code: 39, message: count)) == [])
        let told = bench.receive(.msgFail(sequence: "s", progressive: .max, code: 39, message: count))
        #expect(told == ["1 discarded"])
    }

    @Test func outcomesOfOthersAreIgnored() throws {
        var bench = MessageBench()
        bench.message("a", "s")
        _ = bench.send()
        #expect(try bench.receive("MSGDONE,*,1,") == [])
        #expect(try bench.receive("MSGDONE,s,2,") == [])
        #expect(try bench.receive("UNSUB,1") == [])
        #expect(bench.unfinished() == 1)
    }

    @Test func messagesWithoutDelegateTellNothing() throws {
        var bench = MessageBench()
        bench.message("a", "s", hasDelegate: false)
        _ = bench.send()
        #expect(try bench.receive("MSGDONE,s,1,") == [])
        bench.message("b", "s", hasDelegate: false)
        #expect(bench.end() == [])
        #expect(bench.released().sorted() == [1, 2])
    }

    // MARK: - Ends

    @Test func endOfTheSessionAbortsInTheOrderOfTheCallsAndTellsTheTruth() throws {
        var bench = MessageBench()
        bench.message("a", "s")
        bench.message("b")
        _ = bench.send()
        _ = bench.accept(2)
        bench.message("c", "s")
        #expect(bench.end() == ["1 aborted sent", "2 aborted sent", "3 aborted"])
        #expect(bench.end() == [])
        #expect(bench.send() == [])
    }

    @Test func numbersStartAgainInANewSession() {
        var bench = MessageBench()
        bench.message("a", "s")
        _ = bench.end()
        bench.message("b", "s")
        #expect(bench.send() == ["LS_reqId=1&LS_message=b&LS_sequence=s&LS_msg_prog=1"])
    }
}
