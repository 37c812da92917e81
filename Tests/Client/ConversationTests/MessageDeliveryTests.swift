internal import DemoServer
internal import SessionCore
internal import Testing

/// While the session exists every message is processed once, in the order of its sequence.
struct MessageDeliveryTests {
    private static func expectDelivery(_ transport: ForcedTransport, _ trouble: Disturbance, line: Int) {
        let comment: Comment = "line \(line)"
        let conversation = Conversation(seed: 1, transport: transport)
        conversation.troubles = [line: [trouble]]
        conversation.publisher.adapters = DataKind.raw.adapters
        conversation.subscribe(DataKind.chat)
        conversation.subscribe(DataKind.raw.properties)
        conversation.connect()
        for number in 0..<12 {
            conversation.send("CHAT|say \(number)", sequence: [nil, "a", "b"][number % 3], enqueues: true)
            conversation.publish(for: .milliseconds(120))
        }
        // Messages lost by a WebSocket are sent again on the next one, before the server skips them.
        conversation.run(for: .seconds(5))
        conversation.breakStream()
        conversation.settle()
        let outcomes = conversation.checker.messages.values
        #expect(outcomes.allSatisfy { $0 == .processed(response: "") }, comment)
        #expect(conversation.checker.cycles == [1, 1], comment)
        conversation.finish(comment)
    }

    @Test(arguments: BrokenLinkTests.transports)
    func brokenConnectionLosesNoMessage(transport: ForcedTransport) {
        for line in 2...40 { Self.expectDelivery(transport, .link(.drop), line: line) }
    }

    /// The client sends a message again whose reply is lost. The server has it by then, and its outcome is to come.
    @Test(arguments: BrokenLinkTests.transports, [nil, "a"])
    func lostReplyToASlowMessageLosesNoOutcome(transport: ForcedTransport, sequence: String?) {
        let conversation = Conversation(seed: 1, transport: transport)
        conversation.connect()
        conversation.run(for: .seconds(2))
        let fault = Fault(.loseAnswer, at: .request(.message))
        conversation.perform(conversation.server.faultsInstalled([fault], at: conversation.clock.now))
        conversation.send("DELAY|12000|ECHO|done", sequence: sequence, enqueues: false)
        conversation.run(for: .milliseconds(200))
        conversation.breakStream()
        conversation.run(for: .seconds(40))
        #expect(Array(conversation.checker.messages.values) == [.processed(response: "done")])
        conversation.finish()
    }

    @Test(
        arguments: BrokenLinkTests.transports,
        [FaultEffect.ignore, .loseAnswer, .delay(.seconds(1)), .duplicateAnswer, .lateAnswers]
    )
    func troubleWithTheAnswersLosesNoMessage(transport: ForcedTransport, effect: FaultEffect) {
        for line in stride(from: 2, through: 30, by: 4) {
            let fault = Fault(effect, at: .request(.message), times: 2)
            Self.expectDelivery(transport, .server([fault]), line: line)
        }
    }
}
