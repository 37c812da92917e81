internal import DemoServer
internal import SessionCore
internal import Testing

/// One fault of the stream's connection, at every line in turn.
struct BrokenLinkTests {
    static let transports: [ForcedTransport] = [.wsStreaming, .httpStreaming, .wsPolling, .httpPolling]

    private func play(
        _ transport: ForcedTransport,
        _ kind: DataKind,
        lines: some Sequence<Int>,
        _ trouble: Disturbance,
        _ change: (Conversation) -> Void = { _ in },
        _ check: (Conversation, Int) -> Void = { _, _ in }
    ) {
        for line in lines {
            let conversation = Conversation(seed: UInt64(line), transport: transport)
            conversation.troubles = [line: [trouble]]
            change(conversation)
            conversation.play([kind])
            check(conversation, line)
            conversation.finish()
            #expect(conversation.checker.violations == [], "seed and line \(line)")
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func undisturbedConversationAgrees(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, lines: 1...5, .refusal(count: 0)) { _ in
        } _: { conversation, line in
            #expect(conversation.checker.cycles == [1], "seed \(line)")
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func brokenConnectionLosesAndDoublesNothing(transport: ForcedTransport, kind: DataKind) {
        var recoveries = 0
        play(transport, kind, lines: 1...32, .link(.drop)) { _ in
        } _: { conversation, line in
            if conversation.checker.statuses.contains(.disconnectedTryingRecovery) { recoveries += 1 }
            // From the second line on there is a session, which is recovered.
            guard line >= 2 else { return }
            #expect(conversation.checker.cycles == [1], "seed and line \(line)")
            #expect(!conversation.checker.statuses.contains(.disconnectedWillRetry), "seed and line \(line)")
        }
        // If the line is a LOOP, the connection is ending already.
        #expect(recoveries > 15)
    }

    @Test(arguments: transports, DataKind.allCases)
    func halfOpenConnectionIsFoundAndReplaced(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, lines: stride(from: 1, through: 40, by: 4), .link(.halfOpen))
    }

    @Test(arguments: transports, DataKind.allCases)
    func connectionThatStallsAndGoesOnLosesNothing(transport: ForcedTransport, kind: DataKind) {
        for seconds in [1.0, 9] {
            play(transport, kind, lines: stride(from: 2, through: 40, by: 8), .link(.stall(.seconds(seconds))))
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func lateAnswerToAnOvertakenBindIsIgnored(transport: ForcedTransport, kind: DataKind) {
        for seconds in [4.01, 4.1, 5, 7] {
            for line in stride(from: 8, through: 20, by: 4) {
                let conversation = Conversation(seed: UInt64(line), transport: transport)
                conversation.troubles = [
                    line: [.slowOpening(.seconds(seconds)), .server([Fault(.loop(delayMilliseconds: 0))])]
                ]
                conversation.play([kind])
                conversation.finish()
                #expect(conversation.checker.violations == [], "seed and line \(line), \(seconds) s")
            }
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func smallPiecesAreAsGoodAsWholeLines(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, lines: stride(from: 2, through: 40, by: 7), .link(.drop)) { $0.isSplit = true }
    }

    @Test(arguments: transports, DataKind.allCases)
    func connectionsRefusedAfterABreakAreTriedAgain(transport: ForcedTransport, kind: DataKind) {
        for count in [1, 3] {
            for line in stride(from: 2, through: 40, by: 12) {
                let conversation = Conversation(seed: UInt64(line), transport: transport)
                conversation.troubles = [line: [.refusal(count: count), .link(.drop)]]
                conversation.play([kind])
                conversation.finish()
                #expect(conversation.checker.violations == [], "seed and line \(line), \(count) refused")
            }
        }
    }
}
