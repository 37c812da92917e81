internal import DemoServer
internal import SessionCore
internal import Testing

/// Every allowed change of status occurs, and every timer fires, in disturbed conversations.
struct CoverageTests {
    private static let bound: [ClientStatus] = [
        .connectedStreamSensing, .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling,
        .connectedHTTPPolling,
    ]

    /// The action at a status.
    private static let disturbances: [[Disturbance]] = [
        [.link(.drop)], [.link(.halfOpen)], [.user(.disconnect)], [.server([Fault(.end(code: 48, message: "again"))])],
        [.link(.stall(.seconds(8)))], [.server([Fault(.loop(delayMilliseconds: 300))])],
        [.server([Fault(.ignore, at: .request(.add))])],
    ]

    private static func conversations() -> [Conversation] {
        var all: [Conversation] = []
        for transport in BrokenLinkTests.transports {
            for status in bound {
                for (number, troubles) in disturbances.enumerated() {
                    for recoveryTimeout in [15.0, 0] {
                        let conversation = conversation(UInt64(number), transport, recovery: recoveryTimeout)
                        conversation.reactions = [status: troubles]
                        all.append(conversation)
                    }
                }
                for other in BrokenLinkTests.transports {
                    let conversation = conversation(7, transport)
                    conversation.reactions = [status: [.user(.force(other))]]
                    all.append(conversation)
                }
            }
        }
        return all + interruptions() + [slowRecovery()]
    }

    /// A recovery attempt without response at the deadline of the recovery.
    private static func slowRecovery() -> Conversation {
        let conversation = conversation(9, .wsStreaming, recovery: 3)
        conversation.troubles = [14: [.link(.drop)]]
        conversation.reactions = [.disconnectedTryingRecovery: [.slowOpening(.seconds(8))]]
        return conversation
    }

    /// Faults during the recovery from another one.
    private static func interruptions() -> [Conversation] {
        let statuses: [ClientStatus] = [
            .connecting, .stalled, .disconnectedTryingRecovery, .disconnectedWillRetry,
        ]
        var all: [Conversation] = []
        for transport in BrokenLinkTests.transports {
            for status in statuses {
                for first in [Disturbance.link(.drop), .link(.halfOpen), .server([Fault(.end(code: 48, message: ""))])]
                {
                    for second in [
                        Disturbance.user(.disconnect), .server([Fault(.refuseRecovery)]), .refusal(count: 9),
                    ] {
                        let conversation = conversation(8, transport)
                        conversation.troubles = [14: [first]]
                        conversation.reactions = [status: [second]]
                        all.append(conversation)
                    }
                }
            }
        }
        return all
    }

    private static func conversation(
        _ seed: UInt64,
        _ transport: ForcedTransport,
        recovery: Double = 15
    ) -> Conversation {
        Conversation(seed: seed, transport: transport) {
            $0.sessionRecoveryTimeout = recovery
            $0.reverseHeartbeatInterval = 1
            $0.earlyWSOpenEnabled = seed % 2 == 0
        }
    }

    @Test func everyChangeOfStatusHappensAndEveryTimerFires() {
        var changes: Set<StatusRules.Change> = []
        var timers: Set<SessionTimer.Purpose> = []
        for (number, conversation) in Self.conversations().enumerated() {
            conversation.play([.raw], lasting: .seconds(20), endingInBreak: true)
            conversation.finish("conversation \(number)")
            changes.formUnion(conversation.checker.changes)
            timers.formUnion(conversation.firedTimers)
        }
        let missing = StatusRules.changes.subtracting(changes).map { "\($0.from.rawValue) to \($0.to.rawValue)" }
        #expect(missing.sorted() == [])
        #expect(timers == Set(SessionTimer.Purpose.allCases))
    }
}
