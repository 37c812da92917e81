internal import Testing

@testable internal import DemoServer

struct MessageSequencesTests {
    private func message(_ number: Int, wait: Duration = .seconds(1)) -> ClientMessage {
        ClientMessage(text: "\(number)", sequence: "q", progressive: number, maxWait: wait, wantsOutcome: true)
    }

    @Test func gapsAreGivenUpOneAfterTheOther() {
        var sequence = MessageSequence(capacity: 10)
        #expect(sequence.received(message(3), number: 3, at: .zero) == [])
        #expect(sequence.received(message(6, wait: .seconds(5)), number: 6, at: .zero) == [])
        #expect(sequence.earliestEnd == .seconds(1))
        #expect(sequence.timePassed(at: .milliseconds(999)).isEmpty)
        #expect(sequence.timePassed(at: .seconds(1)) == [.skipped(through: 2, count: 2), .process(message(3))])
        #expect(sequence.received(message(4), number: 4, at: .seconds(2)) == [.process(message(4))])
        #expect(
            sequence.timePassed(at: .seconds(5)) == [
                .skipped(through: 5, count: 1), .process(message(6, wait: .seconds(5))),
            ]
        )
    }

    @Test func laterGapIsGivenUpWithAnEarlierOneWhoseTimeIsNotYetOver() {
        var sequence = MessageSequence(capacity: 10)
        _ = sequence.received(message(5, wait: .seconds(1)), number: 5, at: .zero)
        _ = sequence.received(message(3, wait: .seconds(9)), number: 3, at: .zero)
        #expect(
            sequence.timePassed(at: .seconds(1)) == [
                .skipped(through: 2, count: 2), .process(message(3, wait: .seconds(9))), .skipped(through: 4, count: 1),
                .process(message(5)),
            ]
        )
    }

    @Test func textsThatWaitAreLimitedInSize() {
        var ledger = MessageSequences(capacity: 100, maxBytes: 1_000)
        func waiting(_ number: Int, in sequence: String) -> ClientMessage {
            let text = String(repeating: "x", count: 300)
            return ClientMessage(
                text: text,
                sequence: sequence,
                progressive: number,
                maxWait: .seconds(1),
                wantsOutcome: true
            )
        }
        #expect(ledger.received(waiting(2, in: "a"), at: .zero) == .accepted)
        #expect(ledger.received(waiting(2, in: "b"), at: .zero) == .accepted)
        #expect(ledger.received(waiting(3, in: "a"), at: .zero) == .refused)
        ledger.waited(in: "a", at: .seconds(1))
        while ledger.nextWork(of: "a", at: .seconds(1)) != nil {}
        #expect(ledger.received(waiting(4, in: "a"), at: .seconds(1)) == .accepted)
    }

    @Test func numbersOutOfOrderAreRememberedWithinBounds() {
        var record = SeenNumbers(capacity: 3)
        let known = [1, 5, 3, 1, 5, 9, 11].map { number in
            defer { record.insert(number) }
            return record.contains(number)
        }
        #expect(known == [false, false, false, true, true, false, false])
        // Too many were out of order: missing numbers below the lowest stored one count as received.
        #expect(record.contains(2) && !record.contains(Int.max - 1))
    }

    @Test(arguments: [
        ("plain", MessageCommand.done(response: "plain")), ("a|b", .done(response: "a|b")), ("CHAT|x|y", .chat("x|y")),
        ("ECHO|", .done(response: "")), ("FAIL|-3|no|way", .failed(code: -3, message: "no|way")),
        ("FAIL|x", .done(response: "FAIL|x")), ("DELAY|50|CHAT|x", .later(.milliseconds(50), rest: "CHAT|x")),
        ("END|48|bye", .end(SessionEnd(code: 48, message: "bye"))), ("FAULT|drop", .fault(script: "drop")),
    ])
    func textsHaveTheirMeaning(text: String, meaning: MessageCommand) {
        #expect(MessageCommand(text) == meaning)
    }
}
