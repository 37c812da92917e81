internal import DemoServer
internal import SessionCore
internal import Testing

/// The server uses what the protocol allows at any moment, and violates it.
struct MisbehavingServerTests {
    private func play(
        _ transport: ForcedTransport,
        _ kind: DataKind,
        _ faults: [Fault],
        lines: some Sequence<Int> = stride(from: 2, through: 40, by: 6),
        dropping: Bool = false,
        _ check: (Conversation) -> Void = { _ in }
    ) {
        let troubles = [.server(faults)] + (dropping ? [Disturbance.link(.drop)] : [])
        Conversation.play(transport, kind, lines: lines, troubles) { conversation, _ in check(conversation) }
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func loopAtAnyMomentIsFollowedByABind(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, [Fault(.loop(delayMilliseconds: 0))], lines: 1...20) { conversation in
            #expect(conversation.checker.cycles == [1])
            #expect(!conversation.checker.statuses.contains(.disconnectedTryingRecovery))
        }
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func mutedStreamIsRecovered(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, [Fault(.mute(.seconds(100)))])
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func lineCutInItsMiddleIsRepeatedWhole(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, [Fault(.cutLine())]) { #expect($0.checker.cycles == [1]) }
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func recoveryThatRestartsEarlierRepeatsNothing(transport: ForcedTransport, kind: DataKind) {
        for offset in [-1, -4] {
            play(transport, kind, [Fault(.progress(offset))], dropping: true)
        }
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func recoveryThatIsAheadOfTheClientBringsANewSession(transport: ForcedTransport, kind: DataKind) {
        var replacements = 0
        play(transport, kind, [Fault(.progress(3))], lines: 18...22, dropping: true) { conversation in
            // If the line is a LOOP, there is no connection to break, and so nothing to recover.
            let isInterrupted = conversation.checker.statuses.contains(.disconnectedTryingRecovery)
            #expect(conversation.checker.cycles == [isInterrupted ? 2 : 1])
            #expect(conversation.checker.statuses.contains(.disconnectedWillRetry) == isInterrupted)
            if isInterrupted { replacements += 1 }
        }
        #expect(replacements > 1)
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func refusedRecoveryBringsANewSession(transport: ForcedTransport, kind: DataKind) {
        var replacements = 0
        play(transport, kind, [Fault(.refuseRecovery)], lines: 18...22, dropping: true) { conversation in
            let isInterrupted = conversation.checker.statuses.contains(.disconnectedTryingRecovery)
            #expect(conversation.checker.cycles == [isInterrupted ? 2 : 1])
            if isInterrupted { replacements += 1 }
        }
        #expect(replacements > 1)
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func lostRecoveryIsAskedForAgain(transport: ForcedTransport, kind: DataKind) {
        play(transport, kind, [Fault(.ignore, at: .request(.recovery), times: 2)], lines: [12, 20, 28], dropping: true)
        {
            #expect($0.checker.cycles == [1])
        }
    }

    @Test(arguments: [false, true], DataKind.allCases)
    func streamsThatAProxyRefusesAreReplacedByPolls(isOlderEdition: Bool, kind: DataKind) {
        let conversation = Conversation(
            seed: 1,
            transport: nil,
            options: { if isOlderEdition { $0 = .olderEdition } }
        )
        let faults = [FaultRequest.handshake, .streaming].map { Fault(.status(403), at: .request($0), times: .max) }
        conversation.perform(conversation.server.faultsInstalled(faults, at: conversation.clock.now))
        conversation.play([kind])
        #expect(conversation.client.status == .connectedHTTPPolling)
        #expect(conversation.checker.cycles == [1])
        conversation.finish()
    }

    @Test(arguments: BrokenLinkTests.transports, [41, 48])
    func sessionThatIsToBeRefreshedIsReplaced(transport: ForcedTransport, code: Int) {
        for kind in DataKind.allCases {
            play(transport, kind, [Fault(.end(code: code, message: "again"))], lines: [12, 20, 28]) { conversation in
                #expect(conversation.checker.cycles == [2])
            }
        }
    }

    @Test(arguments: BrokenLinkTests.transports, DataKind.allCases)
    func unansweredRequestsAreSentAgain(transport: ForcedTransport, kind: DataKind) {
        for effect in [FaultEffect.ignore, .loseAnswer, .delay(.seconds(1)), .duplicateAnswer, .lateAnswers] {
            let conversation = Conversation(seed: 1, transport: transport)
            conversation.troubles = [1: [.server([Fault(effect, at: .request(.add))])]]
            conversation.subscribe(kind.properties)
            conversation.connect()
            conversation.publish(for: .seconds(1))
            conversation.settle(afterBreak: true)
            conversation.compare()
            #expect(conversation.checker.cycles == [1], "\(effect)")
            conversation.finish("\(effect)")
        }
    }

    @Test(arguments: BrokenLinkTests.transports)
    func nonsenseBetweenTheLinesIsPassedOver(transport: ForcedTransport) {
        for kind in DataKind.allCases {
            play(transport, kind, [Fault(.inject(["", "FUTURE,1,2", "PROBE"]))]) { #expect($0.checker.cycles == [1]) }
        }
    }

    @Test(arguments: [FaultEffect.skipData, .repeatData], [DataKind.distinct, .raw])
    func lossThatNoClientCanNoticeIsDetected(effect: FaultEffect, kind: DataKind) {
        let conversation = Conversation(seed: 1, transport: .wsStreaming)
        conversation.troubles = [20: [.server([Fault(effect)])]]
        conversation.play([kind])
        #expect(conversation.checker.violations.count == 1)
    }
}
