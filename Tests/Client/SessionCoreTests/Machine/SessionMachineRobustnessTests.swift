internal import SessionCore
internal import TestSupport
internal import Testing

/// Random events in random order: no trap, no leak, and a stopped session stays stopped.
@Suite struct SessionMachineRobustnessTests {
    private static let friendlyLines = [
        "WSOK", "WSOK", "WSOK", "CONOK,sid,70000,5000,*", "CONOK,sid,70000,5000,*", "CONOK,sid,70000,5000,*", "LOOP,0",
        "LOOP,0", "PROBE", "SUBOK,1,1,1", "U,1,1,a", "CONS,unlimited",
    ]

    private static let lines = [
        "WSOK", "WSOK", "CONOK,sid,70000,5000,*", "CONOK,sid,70000,5000,*", "CONOK,sid,10,0,other:81", "LOOP,0",
        "LOOP,0", "LOOP,700", "PROBE", "NOOP,x", "SYNC,0", "SYNC,99999999", "PROG,0", "PROG,3", "CONS,unmanaged",
        "CONS,1.5", "SERVNAME,s", "CLIENTIP,1.1.1.1", "CLIENTIP,2.2.2.2", "SUBOK,1,1,1", "U,1,1,a", "U,2,1,b",
        "UNSUB,1", "MSGDONE,seq,1,ok", "MSGFAIL,seq,2,39,2", "REQOK,1", "REQOK,2", "REQERR,3,21,x", "REQERR,1,20,x",
        "END,48,x", "END,31,x", "CONERR,4,x", "CONERR,5,x", "CONERR,65,x", "CONERR,1,x", "ERROR,68,x", "garbage",
        "MPNREG,d,a", "MPNZERO,d", "LOOP,9223372036854775807", "CONOK,sid,9223372036854775807,9223372036854775807,*",
        "PROG,9223372036854775807", "END,x,y", "REQOK",
    ]

    @Test(arguments: 0..<200)
    func anyOrderOfEventsIsSurvived(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let harness = SessionHarness {
            $0.slowingEnabled = Bool.random(using: &random)
            $0.sessionRecoveryTimeout = Bool.random(using: &random) ? 15 : 0
            $0.reverseHeartbeatInterval = Bool.random(using: &random) ? 1 : 0
            $0.earlyWSOpenEnabled = Bool.random(using: &random)
            $0.forcedTransport =
                Bool.random(using: &random) ? ForcedTransport.allCases.randomElement(using: &random) : nil
        }
        for step in 0..<300 { Self.step(harness, UInt64(step), &random) }
        harness.disconnect()
        #expect(harness.status == .disconnected, "seed \(seed)")
        #expect(harness.timers.isEmpty, "seed \(seed)")
        #expect(harness.openConnections.isEmpty, "seed \(seed)")
        Self.expectOrder(harness.events, seed)
    }

    private static func step(_ harness: SessionHarness, _ step: UInt64, _ random: inout SeededGenerator) {
        harness.random = Double.random(in: 0..<1, using: &random)
        switch Int.random(in: 0..<32, using: &random) {
        case 0, 1: harness.connect()
        case 2: if step % 7 == 0 { harness.disconnect() }
        case 3: harness.subscribe(step, item: "i")
        case 4: harness.unsubscribe(UInt64.random(in: 0..<300, using: &random))
        case 5: harness.sendMessage(step, "m", enqueues: step % 2 == 0)
        case 6:
            let forced = ForcedTransport.allCases.randomElement(using: &random)
            harness.setOptions {
                $0.forcedTransport = forced
                $0.requestedMaxBandwidth = .limited(Double(step + 1))
                $0.reverseHeartbeatInterval = Double(step % 3)
            }
        case 7: if harness.openConnections.contains(harness.stream) { harness.breakStream() }
        case 8: if harness.openConnections.contains(harness.control) { harness.respond("REQOK,\(step)") }
        case 9: if harness.openConnections.contains(harness.control) { harness.breakControl() }
        case 10: harness.connect()
        case 11: harness.changeToken("t")
        case 12: harness.resetBadge()
        case 13, 14: harness.advance(Int.random(in: 0..<9000, using: &random))
        case 15, 16: if harness.openConnections.contains(harness.stream) { harness.open() }
        case 17: harness.receive(lines.randomElement(using: &random) ?? "", on: harness.stream)
        default: harness.receive(friendlyLines.randomElement(using: &random) ?? "", on: harness.stream)
        }
    }

    /// No status twice in a row, `unsubscribed` only after `subscribed`, errors only after `DISCONNECTED`.
    private static func expectOrder(_ events: [SessionEvent], _ seed: UInt64) {
        var status = ClientStatus.disconnected
        var subscribed: Set<SubscriptionToken> = []
        for event in events {
            switch event {
            case .statusChanged(let next):
                #expect(next != status, "seed \(seed)")
                status = next
            case .serverError:
                #expect(status == .disconnected, "seed \(seed)")
            case .subscription(let token, .subscribed):
                #expect(subscribed.insert(token).inserted, "seed \(seed)")
            case .subscription(let token, .unsubscribed):
                #expect(subscribed.remove(token) != nil, "seed \(seed)")
            default:
                break
            }
        }
    }
}
