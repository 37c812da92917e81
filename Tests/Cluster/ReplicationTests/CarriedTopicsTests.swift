import Primitives
import Testing

@testable import Replication

struct CarriedTopicsTests {
    private static func ledger(term: UInt64) -> ClusterLedger {
        var ledger = ClusterLedger(epoch: 1, position: term, groups: 1)
        ledger.topics.add("s", SimulatedNode.key("i"), at: term)
        ledger.topics.assign("s", to: 1, at: term)
        return ledger
    }

    /// Another member has owned the subscription since: the first record had no effect.
    @Test func aSubscriptionThatReturnsToItsOwnerIsRetiredInItsNewTerm() {
        var carried = CarriedTopics()
        for term in [3, 7] as [UInt64] {
            let (now, ledger) = (Moment.zero + .seconds(Int(term)), Self.ledger(term: term))
            let actions = carried.assigned("s", in: ledger, to: 1, at: now)
            let early = carried.retire(in: ledger, after: .seconds(2), at: now + .seconds(1))
            let due = carried.retire(in: ledger, after: .seconds(2), at: now + .seconds(2))
            let again = carried.retire(in: ledger, after: .seconds(2), at: now + .seconds(3))
            #expect(actions == [.carry("s", SimulatedNode.key("i"), term: term)])
            #expect(early.isEmpty && due == [.retire(id: "s", term: term)] && again.isEmpty)
            let wasOwned = carried.remove("s")
            #expect(wasOwned)
        }
        let isOwned = carried.remove("s")
        #expect(!isOwned)
    }
}
