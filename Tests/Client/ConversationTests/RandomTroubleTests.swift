internal import DemoServer
internal import SessionCore
internal import TestSupport
internal import Testing

/// Random faults, at moments determined by a seed.
struct RandomTroubleTests {
    private static func someTrouble(_ random: inout SeededGenerator) -> Disturbance {
        switch Int.random(in: 0..<16, using: &random) {
        case 0, 1, 2: .link(.drop)
        case 3: .link(.halfOpen)
        case 4: .link(.stall(.milliseconds(Int.random(in: 100...8_000, using: &random))))
        case 5: .refusal(count: Int.random(in: 1...5, using: &random))
        case 6, 7: .server([Fault(.loop(delayMilliseconds: Int.random(in: 0...200, using: &random)))])
        case 8: .server([Fault(.mute(.seconds(100)))])
        case 9: .server([Fault(.progress(Int.random(in: -4...2, using: &random)))])
        case 10: .server([Fault(.refuseRecovery)])
        case 11:
            .server([
                Fault(
                    .ignore,
                    at: .request([.add, .delete, .bind, .create, .wsok].randomElement(using: &random) ?? .add)
                )
            ])
        case 12: .server([Fault(.end(code: Bool.random(using: &random) ? 41 : 48, message: "again"))])
        case 13: .user(.force((ForcedTransport.allCases + [nil, nil]).randomElement(using: &random) ?? nil))
        case 14: .user(.resubscribe)
        default: .user(.limitFrequency(Bool.random(using: &random) ? .unlimited : .limited(50)))
        }
    }

    private static func conversation(seed: UInt64, _ transport: ForcedTransport?) -> Conversation {
        var random = SeededGenerator(seed: seed &* 7_919)
        let conversation = Conversation(seed: seed, transport: transport)
        conversation.isSplit = Bool.random(using: &random)
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            conversation.troubles[Int.random(in: 1...120, using: &random), default: []].append(someTrouble(&random))
        }
        return conversation
    }

    @Test(arguments: (BrokenLinkTests.transports as [ForcedTransport?]) + [nil, .ws, .http])
    func bothEndsAgreeInTheEnd(transport: ForcedTransport?) {
        for seed in UInt64(1)...40 {
            let conversation = Self.conversation(seed: seed, transport)
            for kind in DataKind.allCases { conversation.subscribe(kind.properties) }
            conversation.connect()
            conversation.publish(for: .seconds(3))
            conversation.settle(afterBreak: true)
            conversation.compare()
            conversation.finish("seed \(seed)")
        }
    }

    @Test(arguments: (BrokenLinkTests.transports as [ForcedTransport?]) + [nil])
    func everyMessageHasOneOutcomeAndIsProcessedOnce(transport: ForcedTransport?) {
        for seed in UInt64(1)...30 {
            let conversation = Self.conversation(seed: seed, transport)
            conversation.subscribe(DataKind.chat)
            conversation.subscribe(DataKind.merge.properties)
            conversation.connect()
            for number in 0..<20 {
                let sequence = [nil, "a", "b"][number % 3]
                conversation.send("CHAT|say \(number)", sequence: sequence, enqueues: number % 2 == 0)
                conversation.publish(for: .milliseconds(100))
            }
            conversation.settle(afterBreak: true)
            conversation.compare()
            conversation.finish("seed \(seed)")
        }
    }

    @Test(arguments: BrokenLinkTests.transports)
    func reconnectingClientReceivesEverything(transport: ForcedTransport) {
        for seed in UInt64(1)...12 {
            let conversation = Conversation(seed: seed, transport: transport)
            conversation.troubles = [
                Int(seed): [.user(.disconnect)], Int(seed) + 3: [.user(.connect)],
            ]
            conversation.play()
            #expect(conversation.checker.cycles.allSatisfy { $0 <= 2 }, "seed \(seed)")
            conversation.finish("seed \(seed)")
        }
    }
}
