import Changes
import EventHub
import Replication
import SessionCore
import SessionPool
import Testing

@testable import GatewayCluster

/// Which topics the hub of a member has when an epoch begins.
@Suite struct ClusterApplierTests {
    private static let client = ClientID("c")
    private static let subscription = SubscriptionID("s")
    private static let topics: [TopicID] = [.client(client), .subscription(subscription)]
    private static let properties = SubscriptionProperties(mode: .merge, items: .list(["i"]), fields: .list(["f"]))

    private let hub = EventHub(epoch: "e", numbering: .given, clock: { .zero })

    /// A member that has a client and its subscription, and then the beginning of an epoch.
    private func restarted(isDegraded: Bool = false, keeping kept: Set<String> = []) -> ClusterApplier {
        var applier = ClusterApplier(hub: hub)
        applier.apply(Self.report(.connecting), at: 1)
        applier.restart(2, 2, kept, nil, withWindows: false, isDegraded: isDegraded)
        return applier
    }

    private static func report(_ status: ClientStatus) -> [Change] {
        [
            .client(client, .added(status)), .subscription(subscription, .added(properties)),
            .subscription(subscription, .carried(by: client)),
        ]
    }

    @Test func topicsThatNoMemberReportsAreRemovedWhenAllMembersHaveReported() {
        var applier = restarted()
        #expect(Self.topics.allSatisfy { hub.knows($0) } && applier.unreported == Set(Self.topics))
        applier.removeUnreported(except: [])
        #expect(!Self.topics.contains { hub.knows($0) } && applier.unreported.isEmpty)
    }

    @Test func reportedTopicsStayWithTheirReportedState() {
        var applier = restarted()
        applier.apply(Self.report(.disconnected), at: 3)
        #expect(applier.unreported.isEmpty)
        #expect(hub.state(of: .client(Self.client))?.changes == [.client(Self.client, .added(.disconnected))])
        let carried = Change.subscription(Self.subscription, .carried(by: Self.client))
        #expect(hub.state(of: .subscription(Self.subscription))?.changes.contains(carried) == true)
    }

    @Test func topicsThatAreRemovedAndAddedAgainMeanwhileAreNew() {
        var applier = restarted()
        applier.apply([.subscription(Self.subscription, .removed), .client(Self.client, .removed)], at: 3)
        #expect(!Self.topics.contains { hub.knows($0) })
        applier.apply(Self.report(.connecting), at: 4)
        applier.removeUnreported(except: [])
        #expect(Self.topics.allSatisfy { hub.knows($0) })
    }

    @Test func subscriptionsWithLocalReadersStay() {
        var applier = restarted()
        applier.removeUnreported(except: [Self.subscription.rawValue])
        #expect(hub.knows(.subscription(Self.subscription)) && !hub.knows(.client(Self.client)))
    }

    /// The pool, which could not open the subscription, will not report its removal.
    @Test func aMemberThatIsRemovedForgetsWhatItCouldNotOpen() async throws {
        try await ClusterFixture.run(1) { fixture in
            let node = fixture.members[0].node
            let added = Change.subscription(Self.subscription, .added(Self.properties))
            func isForgotten() -> Bool { node.reports.withLock { $0.outbox.concernsOwnTopic(added) } }
            var carried = CarriedSubscriptions(of: node)
            let key = SharedTopicKey(upstream: "none", properties: Self.properties)
            carried.carry(Self.subscription.rawValue, key, term: 1)
            #expect(carried.unopened == [Self.subscription.rawValue] && !isForgotten())
            carried.dropAll()
            #expect(carried.unopened.isEmpty && isForgotten())
        }
    }

    @Test func aMemberAloneKeepsNothingOfTheCluster() {
        let applier = restarted(isDegraded: true)
        #expect(!Self.topics.contains { hub.knows($0) } && applier.unreported.isEmpty)
    }
}
