internal import SessionCore
internal import TLCP
internal import Testing

/// Messages from their acceptance to their outcome.
struct MessageLedgerTests {
    // MARK: - Requests

    @Test func numberOfAMessageThatCannotBeSentGoesToTheNextOne() throws {
        var fixture = MessageFixture()
        fixture.message("large", "s")
        fixture.message("other", "t")
        fixture.message("b", "s")
        fixture.message("c", "s")
        #expect(fixture.ledger.refuseNext(code: 67, message: "large").map(\.brief) == ["1 denied 67 large"])
        fixture.message("d", "s")
        #expect(
            fixture.send().map { $0.drop { $0 != "&" } } == [
                "&LS_message=other&LS_sequence=t&LS_msg_prog=1", "&LS_message=b&LS_sequence=s&LS_msg_prog=1",
                "&LS_message=c&LS_sequence=s&LS_msg_prog=2", "&LS_message=d&LS_sequence=s&LS_msg_prog=3",
            ]
        )
        #expect(try fixture.receive("MSGDONE,s,2,") == ["4 processed ''"])
    }

    @Test func numberThatTheServerMayKnowIsNotUsedAgain() {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        fixture.message("b", "s")
        _ = fixture.send()
        fixture.ledger.channelLost()
        #expect(fixture.ledger.refuseNext(code: 67, message: "no").map(\.brief) == ["1 denied 67 no"])
        #expect(fixture.send() == ["LS_reqId=3&LS_message=b&LS_sequence=s&LS_msg_prog=2"])
    }

    @Test func outcomeOfANumberThatWasNotWrittenIsIgnored() throws {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        fixture.message("b", "s")
        #expect(fixture.post(atMost: 1).map { $0.hasSuffix("&LS_message=a&LS_sequence=s&LS_msg_prog=1") } == [true])
        #expect(try fixture.receive("MSGDONE,s,2,") == [])
        #expect(try fixture.receive("MSGFAIL,s,2,39,2") == ["1 discarded"])
        #expect(fixture.send().map { $0.hasSuffix("&LS_message=b&LS_sequence=s&LS_msg_prog=2") } == [true])
        #expect(try fixture.receive("MSGDONE,s,2,") == ["2 processed ''"])
    }

    /// A look at the later messages of the sequence for each refusal takes minutes.
    @Test(.timeLimit(.minutes(1)), arguments: [nil, "s"])
    func manyMessagesThatCannotBeSentAreRefused(sequence: String?) {
        var fixture = MessageFixture()
        let count = 20_000
        for _ in 0..<count { fixture.message("large", sequence) }
        fixture.message("small", sequence)
        for _ in 0..<count { #expect(fixture.ledger.refuseNext(code: 67, message: "no").count == 1) }
        #expect(fixture.send().map { $0.hasSuffix("&LS_msg_prog=1") } == [true])
    }

    @Test func messageWithoutAnOutcomeThatCannotBeSentIsReleased() {
        var fixture = MessageFixture()
        fixture.message("a", hasDelegate: false)
        #expect(fixture.ledger.refuseNext(code: 67, message: "no").isEmpty)
        #expect(fixture.released() == [1] && fixture.unfinished() == 0)
    }

    @Test func theFourKindsAreWrittenForAWebSocket() {
        var fixture = MessageFixture()
        fixture.message("a b", "seq", timeout: 2)
        fixture.message("c")
        fixture.message("d", "seq", hasDelegate: false)
        fixture.message("e", timeout: 2, hasDelegate: false)
        #expect(
            fixture.send() == [
                "LS_reqId=1&LS_message=a%20b&LS_sequence=seq&LS_msg_prog=1&LS_max_wait=2000",
                "LS_reqId=2&LS_message=c&LS_msg_prog=1",
                "LS_reqId=3&LS_message=d&LS_outcome=false&LS_sequence=seq&LS_msg_prog=2",
                "LS_reqId=4&LS_message=e&LS_outcome=false&LS_ack=false",
            ]
        )
    }

    @Test func overHTTPEverythingIsAcknowledged() {
        var fixture = MessageFixture()
        fixture.message("e", hasDelegate: false)
        #expect(fixture.post() == ["LS_reqId=1&LS_message=e&LS_outcome=false"])
        #expect(fixture.accept(1) == [])
        #expect(fixture.unfinished() == 0)
    }

    @Test func reservedSequenceNameIsNoSequence() {
        var fixture = MessageFixture()
        fixture.message("a", "UNORDERED_MESSAGES", timeout: 3)
        fixture.message("b")
        #expect(fixture.send() == ["LS_reqId=1&LS_message=a&LS_msg_prog=1", "LS_reqId=2&LS_message=b&LS_msg_prog=2"])
    }

    @Test(arguments: [(0.0, "&LS_max_wait=0"), (1.5, "&LS_max_wait=1500"), (-1, ""), (nil, "")] as [(Double?, String)])
    func timeoutIsWrittenUnlessNegative(timeout: Double?, expected: String) {
        var fixture = MessageFixture()
        fixture.message("a", "s", timeout: timeout)
        #expect(fixture.send() == ["LS_reqId=1&LS_message=a&LS_sequence=s&LS_msg_prog=1" + expected])
    }

    @Test(arguments: [Double.infinity, 1e300, .nan])
    func absurdTimeoutDoesNotTrap(timeout: Double) {
        var fixture = MessageFixture()
        fixture.message("a", "s", timeout: timeout)
        #expect(fixture.send().count == 1)
    }

    @Test(arguments: [
        ("seq", true), ("a_1", true), ("_", true), ("0", true), ("", false), ("a b", false), ("é", false),
        ("a-b", false),
        ("UNORDERED_MESSAGES", true),
    ])
    func sequenceNamesAreLettersDigitsAndUnderscores(name: String, expected: Bool) {
        #expect(MessageLedger.isSequenceName(name) == expected)
    }

    @Test func theSequencesOfASessionAreLimited() {
        var fixture = MessageFixture()
        for number in 0..<MessageLedger.maxSequences {
            fixture.message("m", "s\(number)", hasDelegate: false)
            if number % 1000 == 0 { _ = fixture.send() }
        }
        #expect(fixture.admits("s0") == true)
        #expect(fixture.admits("other") == false)
        #expect(fixture.admits(nil) == true)
        #expect(fixture.admits("UNORDERED_MESSAGES") == true)
        _ = fixture.end()
        #expect(fixture.admits("other") == true)
    }

    @Test func aSenderBeginsHalfOfTheSequencesAtMost() {
        var fixture = MessageFixture()
        for number in 0..<MessageLedger.maxSequencesOfSender {
            fixture.message("m", "s\(number)", hasDelegate: false, from: "a")
            if number % 1000 == 0 { _ = fixture.send() }
        }
        #expect(fixture.admits("other", from: "a") == false)
        #expect(fixture.admits("s0", from: "a") == true)
        #expect(fixture.admits(nil, from: "a") == true)
        #expect(fixture.admits("other", from: "b") == true)
        fixture.message("m", "other", hasDelegate: false, from: "b")
        #expect(fixture.admits("other", from: "a") == true)
        _ = fixture.end()
        #expect(fixture.admits("another", from: "a") == true)
    }

    @Test func aLongRunOfSkippedNumbersEndsTheMessagesOfItsSequenceOnly() throws {
        var fixture = MessageFixture()
        for _ in 1...6 { fixture.message("m", "s") }
        fixture.message("m", "other")
        _ = fixture.send()
        for number in 1...4 { _ = try fixture.receive("MSGDONE,s,\(number),") }
        #expect(try fixture.receive("MSGFAIL,s,6,39,6") == ["5 discarded", "6 discarded"])
        #expect(fixture.unfinished() == 1)
    }

    @Test func unansweredMessageIsWrittenAgainWithTheSameNumber() {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        fixture.message("b", "s")
        _ = fixture.send()
        #expect(fixture.accept(2) == [])
        fixture.ledger.channelLost()
        #expect(fixture.send() == ["LS_reqId=3&LS_message=a&LS_sequence=s&LS_msg_prog=1"])
        #expect(fixture.accept(1) == nil, "the answer to an earlier copy")
        #expect(fixture.accept(3) == [])
        fixture.ledger.channelLost()
        #expect(fixture.send() == [])
    }

    @Test func fireAndForgetIsFinishedOnceItIsWrittenOnAWebSocket() {
        var fixture = MessageFixture()
        fixture.message("a", hasDelegate: false)
        _ = fixture.send()
        #expect(fixture.unfinished() == 0)
        #expect(fixture.released() == [1])
        #expect(fixture.released() == [])
        #expect(fixture.refuse(1, 34) == nil)
        fixture.ledger.channelLost()
        #expect(fixture.send() == [])
    }

    @Test func requestsThatDoNotFitStayPendingInOrder() {
        var fixture = MessageFixture()
        for text in ["a", "b", "c"] { fixture.message(text, hasDelegate: false) }
        #expect(fixture.post(atMost: 1) == ["LS_reqId=1&LS_message=a&LS_outcome=false"])
        #expect(
            fixture.post() == ["LS_reqId=3&LS_message=b&LS_outcome=false", "LS_reqId=4&LS_message=c&LS_outcome=false"]
        )
    }

    @Test func namedMessageWithoutDelegateIsFinishedByItsAnswer() {
        var fixture = MessageFixture()
        fixture.message("a", "s", hasDelegate: false)
        fixture.message("b", "s", hasDelegate: false)
        _ = fixture.send()
        #expect(fixture.accept(1) == [])
        #expect(fixture.refuse(2, 34) == [])
        #expect(fixture.unfinished() == 0)
    }

    // MARK: - Outcomes

    @Test(arguments: [
        ("MSGDONE,*,1,fine", "1 processed 'fine'"), ("MSGDONE,*,1,", "1 processed ''"),
        ("MSGFAIL,*,1,38,skipped", "1 discarded"), ("MSGFAIL,*,1,39,1", "1 discarded"),
        ("MSGFAIL,*,1,0,zero", "1 denied 0 zero"), ("MSGFAIL,*,1,-7,no%2C never", "1 denied -7 no, never"),
        ("MSGFAIL,*,1,34,error", "1 failed"), ("MSGFAIL,*,1,35,error", "1 failed"),
    ])
    func outcomeIsReported(line: String, expected: String) throws {
        var fixture = MessageFixture()
        fixture.message()
        _ = fixture.send()
        #expect(try fixture.receive(line) == [expected])
        #expect(try fixture.receive(line) == [])
        #expect(fixture.accept(1) == nil)
        #expect(fixture.end() == [])
    }

    @Test(arguments: [32, 33])
    func answersToDuplicatesReleaseTheMessage(code: Int) throws {
        var fixture = MessageFixture()
        fixture.message()
        fixture.message()
        _ = fixture.send()
        #expect(try fixture.receive("MSGFAIL,*,1,\(code),late") == ["1 released"])
        #expect(fixture.refuse(2, code) == ["2 released"])
        #expect(fixture.unfinished() == 0)
        #expect(fixture.end() == [])
    }

    @Test(arguments: [32, 33])
    func repetitionThatIsADuplicateWaitsForTheOutcome(code: Int) throws {
        var fixture = MessageFixture()
        fixture.message()
        _ = fixture.post()
        fixture.ledger.channelLost()
        _ = fixture.post()
        #expect(fixture.refuse(2, code) == [])
        fixture.ledger.channelLost()
        #expect(fixture.post() == [])
        #expect(try fixture.receive("MSGDONE,*,1,ok") == ["1 processed 'ok'"])
        #expect(fixture.unfinished() == 0)
    }

    @Test func endOfTheSessionReleasesARepetitionThatWasADuplicate() {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        _ = fixture.post()
        fixture.ledger.channelLost()
        _ = fixture.post()
        #expect(fixture.refuse(2, 32) == [])
        #expect(fixture.end() == ["1 released"])
    }

    @Test func repetitionWithoutDelegateThatIsADuplicateIsFinished() {
        var fixture = MessageFixture()
        fixture.message("a", "s", hasDelegate: false)
        _ = fixture.post()
        fixture.ledger.channelLost()
        _ = fixture.post()
        #expect(fixture.refuse(2, 32) == [])
        #expect(fixture.released() == [1])
        #expect(fixture.unfinished() == 0)
    }

    @Test(arguments: [
        (34, "1 failed"), (38, "1 failed"), (68, "1 failed"), (0, "1 denied 0 no"), (-1, "1 denied -1 no"),
    ])
    func refusedMessageIsReported(code: Int, expected: String) {
        var fixture = MessageFixture()
        fixture.message()
        _ = fixture.send()
        #expect(fixture.refuse(1, code) == [expected])
        #expect(fixture.end() == [])
    }

    @Test func outcomeAfterTheAcknowledgementIsReported() throws {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        _ = fixture.send()
        #expect(fixture.accept(1) == [])
        #expect(try fixture.receive("MSGDONE,s,1,r") == ["1 processed 'r'"])
    }

    @Test func traceOfASkippedRunRuns() throws {
        var fixture = MessageFixture()
        for text in ["foo1", "foo2", "foo3"] { fixture.message(text, "seq") }
        #expect(fixture.send().last == "LS_reqId=3&LS_message=foo3&LS_sequence=seq&LS_msg_prog=3")
        #expect(try fixture.receive("MSGFAIL,seq,3,39,2") == ["2 discarded", "3 discarded"])
        #expect(try fixture.receive("MSGDONE,seq,1,") == ["1 processed ''"])
    }

    @Test func runBeyondTheNumbersGivenOutEndsNoOtherMessages() throws {
        var fixture = MessageFixture()
        for text in ["foo1", "foo2", "foo3"] { fixture.message(text, "seq") }
        _ = fixture.send()
        #expect(try fixture.receive("MSGFAIL,seq,9,39,2") == [])
        #expect(try fixture.receive("MSGFAIL,seq,5,39,3") == ["3 discarded"])
        #expect(try fixture.receive("MSGDONE,seq,1,") == ["1 processed ''"])
        #expect(try fixture.receive("MSGDONE,seq,2,") == ["2 processed ''"])
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "0", "-5", "many", ""])
    func absurdRunIsBoundedByTheNumbersGivenOut(count: String) throws {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        _ = fixture.send()
        for number in [Int.min, -1, 0] {
            #expect(fixture.receive(.msgFail(sequence: "s", progressive: number, code: 39, message: count)) == [])
        }
        #expect(fixture.receive(.msgFail(sequence: "other", progressive: 4, code: 39, message: count)) == [])
        let told = fixture.receive(.msgFail(sequence: "s", progressive: .max, code: 39, message: count))
        #expect(told == (Int(count) == .max ? ["1 discarded"] : []), "a run of one number, unless the count is larger")
    }

    @Test func outcomesOfOthersAreIgnored() throws {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        _ = fixture.send()
        #expect(try fixture.receive("MSGDONE,*,1,") == [])
        #expect(try fixture.receive("MSGDONE,s,2,") == [])
        #expect(try fixture.receive("UNSUB,1") == [])
        #expect(fixture.unfinished() == 1)
    }

    @Test func messagesWithoutDelegateReportNothing() throws {
        var fixture = MessageFixture()
        fixture.message("a", "s", hasDelegate: false)
        _ = fixture.send()
        #expect(try fixture.receive("MSGDONE,s,1,") == [])
        fixture.message("b", "s", hasDelegate: false)
        #expect(fixture.end() == [])
        #expect(fixture.released().sorted() == [1, 2])
    }

    // MARK: - Ends

    @Test func endOfTheSessionAbortsMessagesInTheOrderOfTheCalls() throws {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        fixture.message("b")
        _ = fixture.send()
        _ = fixture.accept(2)
        fixture.message("c", "s")
        #expect(fixture.end() == ["1 aborted sent", "2 aborted sent", "3 aborted"])
        #expect(fixture.end() == [])
        #expect(fixture.send() == [])
    }

    @Test func numbersStartAgainInANewSession() {
        var fixture = MessageFixture()
        fixture.message("a", "s")
        _ = fixture.end()
        fixture.message("b", "s")
        #expect(fixture.send() == ["LS_reqId=1&LS_message=b&LS_sequence=s&LS_msg_prog=1"])
    }
}
