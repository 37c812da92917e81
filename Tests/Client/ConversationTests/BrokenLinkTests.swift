internal import DemoServer
internal import SessionCore
internal import Testing

/// One fault of the stream's connection, at every line in turn.
struct BrokenLinkTests {
    static let transports: [ForcedTransport] = [.wsStreaming, .httpStreaming, .wsPolling, .httpPolling]

    @Test(arguments: transports, DataKind.allCases)
    func undisturbedConversationAgrees(transport: ForcedTransport, kind: DataKind) {
        Conversation.play(transport, kind, lines: 1...5, []) { conversation, line in
            #expect(conversation.checker.cycles == [1], "seed \(line)")
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func brokenConnectionLosesAndDoublesNothing(transport: ForcedTransport, kind: DataKind) {
        var recoveries = 0
        Conversation.play(transport, kind, lines: 1...32, [.link(.drop)]) { conversation, line in
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
        Conversation.play(transport, kind, lines: stride(from: 1, through: 40, by: 4), [.link(.halfOpen)])
    }

    @Test(arguments: transports, DataKind.allCases)
    func connectionThatStallsAndGoesOnLosesNothing(transport: ForcedTransport, kind: DataKind) {
        for seconds in [1.0, 9] {
            let trouble = Disturbance.link(.stall(.seconds(seconds)))
            Conversation.play(transport, kind, lines: stride(from: 2, through: 40, by: 8), [trouble])
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func lateAnswerToAnOvertakenBindIsIgnored(transport: ForcedTransport, kind: DataKind) {
        for seconds in [4.01, 4.1, 5, 7] {
            let troubles = [.slowOpening(.seconds(seconds)), Disturbance.server([Fault(.loop(delayMilliseconds: 0))])]
            Conversation.play(transport, kind, lines: stride(from: 8, through: 20, by: 4), troubles)
        }
    }

    @Test(arguments: transports, DataKind.allCases)
    func smallPiecesAreAsGoodAsWholeLines(transport: ForcedTransport, kind: DataKind) {
        Conversation.play(
            transport,
            kind,
            lines: stride(from: 2, through: 40, by: 7),
            [.link(.drop)],
            change: { $0.isSplit = true }
        )
    }

    @Test(arguments: transports, DataKind.allCases)
    func connectionsRefusedAfterABreakAreTriedAgain(transport: ForcedTransport, kind: DataKind) {
        for count in [1, 3] {
            let lines = stride(from: 2, through: 40, by: 12)
            Conversation.play(transport, kind, lines: lines, [.refusal(count: count), .link(.drop)])
        }
    }
}
