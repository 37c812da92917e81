import Primitives
import Testing

@testable import Replication

struct CarriedTopicsTests {
    private static func topics(term: UInt64) -> [String: ClusterLedger.SharedTopic] {
        ["s": ClusterLedger.SharedTopic(key: SimulatedNode.key("i"), owner: 1, term: term)]
    }

    /// Another member has owned the subscription since: the first record had no effect.
    @Test func aSubscriptionThatReturnsToItsOwnerIsRetiredInItsNewTerm() {
        var carried = CarriedTopics()
        for term in [3, 7] as [UInt64] {
            let now = Moment.zero + .seconds(Int(term))
            carried.add("s")
            carried.interestRemoved("s", at: now)
            let early = carried.retire(Self.topics(term: term), after: .seconds(2), at: now + .seconds(1))
            let due = carried.retire(Self.topics(term: term), after: .seconds(2), at: now + .seconds(2))
            let again = carried.retire(Self.topics(term: term), after: .seconds(2), at: now + .seconds(3))
            #expect(early.isEmpty && due == [.retire(id: "s", term: term)] && again.isEmpty)
            let wasOwned = carried.remove("s")
            #expect(wasOwned)
        }
        let isOwned = carried.remove("s")
        #expect(!isOwned)
    }
}
