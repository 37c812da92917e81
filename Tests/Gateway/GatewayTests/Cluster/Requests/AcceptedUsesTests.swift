import Replication
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite struct AcceptedUsesTests {
    private static func use(of ticket: UInt8) -> TicketRedemption {
        let target = StreamTarget(digest: Array(0..<32), isResumed: false)
        return TicketRedemption(hash: Array(repeating: ticket, count: 16), target: target, caller: Caller())
    }

    private static let opening = TicketOpening(
        use: TicketUse(key: RecordKey(high: 1, low: 2), epoch: 7, issuedAt: 9),
        target: RecordKey(high: 3, low: 4),
        isResumed: false
    )

    @Test func aLaterUseHasTheStreamOfTheEarlierOneClosed() {
        var uses = AcceptedUses()
        let (first, second) = (Self.use(of: 1), Self.use(of: 1))
        let former = uses.accepted(first, Self.opening)
        uses.opened("a", by: first)
        let closed = uses.accepted(second, Self.opening)
        #expect(former == nil && closed == "a")
        #expect(!uses.isLast(first) && uses.isLast(second))
    }

    @Test func theEndOfAnEarlierUseDoesNotConcernTheLastOne() {
        var uses = AcceptedUses()
        let (first, second) = (Self.use(of: 1), Self.use(of: 1))
        _ = uses.accepted(first, Self.opening)
        _ = uses.accepted(second, Self.opening)
        uses.opened("a", by: first)
        let hasEnded = uses.ended(first)
        let closed = uses.moved(second.ticket)
        #expect(!hasEnded && closed == nil)
        #expect(!uses.contains(second.ticket))
    }

    @Test func aTicketThatMovesHasItsStreamClosedHere() {
        var uses = AcceptedUses()
        let (one, other) = (Self.use(of: 1), Self.use(of: 2))
        for (use, stream) in [(one, "a"), (other, "b")] {
            _ = uses.accepted(use, Self.opening)
            uses.opened(stream, by: use)
        }
        let closed = uses.moved(one.ticket)
        let haveEnded = [uses.ended(other), uses.ended(other)]
        #expect(closed == "a" && haveEnded == [true, false])
    }
}
