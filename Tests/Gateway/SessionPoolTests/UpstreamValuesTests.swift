internal import Primitives
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// The budget for the values of an upstream.
@Suite struct UpstreamValuesTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    private static let confirmation = SubscriptionEvent.subscribed(
        itemCount: 1,
        fieldCount: 2,
        keyPosition: 1,
        commandPosition: 2
    )

    private static func added(_ key: String) -> SubscriptionEvent {
        let layout = SubscriptionLayout(
            itemNames: ["list"],
            fieldNames: ["key", "command"],
            fieldCount: 2,
            keyPosition: 1,
            commandPosition: 2
        )
        return .update(
            ItemUpdate(
                layout: layout,
                itemPos: 1,
                isSnapshot: false,
                values: [key, "ADD"],
                changed: FieldSet(all: 2)
            )
        )
    }

    /// A resource in COMMAND mode that is subscribed and has received the key `a`, and the subscription that carries it.
    private func resourceWithKey(in pool: SessionPool) throws -> (SubscriptionResource, SharedSubscription) {
        let list = SubscriptionProperties(mode: .command, items: .list(["list"]), fields: .list(["key", "command"]))
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: list)
        try pool.activate(resource)
        let carrier = try #require(resource.carrier)
        try deliver(Self.confirmation, of: carrier)
        try deliver(Self.added("a"), of: carrier)
        return (resource, carrier)
    }

    @Test func valuesThatAnEventRemovesCountNoLonger() throws {
        let pool = pool()
        let (resource, carrier) = try resourceWithKey(in: pool)
        let one = pool.settings.values(of: "demo").used
        for event in [SubscriptionEvent.clearSnapshot(itemPos: 1), Self.confirmation, .unsubscribed(isFinal: false)] {
            for key in ["a", "b", "c"] { try deliver(Self.added(key), of: carrier) }
            #expect(pool.settings.values(of: "demo").used > one)
            try deliver(event, of: carrier)
            #expect(pool.settings.values(of: "demo").used < one)
        }
        try pool.delete(resource.id)
        pass(5, in: pool)
        #expect(pool.settings.values(of: "demo").used == 0)
    }

    /// As after the difference from a value that is too large for differences.
    @Test func subscribedSubscriptionThatFailsIsUnsubscribedForGood() throws {
        let (resource, carrier) = try resourceWithKey(in: pool())
        let failure = SubscriptionEvent.failed(code: 61, message: "m")
        carrier.subscription(carrier.subscription, emitted: failure)
        #expect(sink.present.events[resource.id]?.suffix(2) == [failure, .unsubscribed(isFinal: true)])
        #expect(!resource.status.isActive && resource.status.lastError?.code == 61)
    }

    @Test func subscriptionWhoseValuesExceedTheBudgetIsRefusedAndUnsubscribed() throws {
        let pool = pool { $0.maxValueBytes = 1 }
        let (resource, carrier) = try resourceWithKey(in: pool)
        let refusal = carrier.client.values.refusal
        #expect(
            sink.present.events[resource.id] == [
                Self.confirmation, .failed(code: refusal.code, message: refusal.message), .unsubscribed(isFinal: true),
            ]
        )
        #expect(!resource.status.isActive && resource.status.lastError == refusal && resource.carrier == nil)
        // As when the server refuses the session at the same time.
        let events = sink.present.events
        #expect(carrier.refuse(UpstreamRefusal(code: 1, message: "m")).isEmpty)
        #expect(sink.present.events == events && pool.upstreamMetrics.errors.subscriptions.values.reduce(0, +) == 1)
        #expect(pool.settings.values(of: "demo").used == 0)
    }

    /// The callers that use subscriptions.
    private final class Users: Sendable {
        let held = RankedMutex<[String: Set<String>]>([:])
    }

    /// A table with one key that callers use, and the subscription that carries it.
    private func table(
        _ name: String,
        of callers: Set<String>,
        _ users: Users,
        in pool: SessionPool
    ) throws -> (resource: SubscriptionResource, carrier: SharedSubscription) {
        let list = SubscriptionProperties(mode: .command, items: .list([name]), fields: .list(["key", "command"]))
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: list)
        users.held.withLock { held in
            for caller in callers { held[caller, default: []].insert(resource.id.rawValue) }
        }
        try pool.activate(resource)
        let carrier = try #require(resource.carrier)
        try deliver(Self.confirmation, of: carrier)
        try deliver(Self.added("a"), of: carrier)
        return (resource, carrier)
    }

    @Test func theLargestSubscriptionOfTheCallerWithTheMostValuesEnds() throws {
        let users = Users()
        let pool = pool(held: { users.held.withLock { $0 } })
        let small = try table("small", of: ["b"], users, in: pool)
        let first = try table("first", of: ["a"], users, in: pool)
        let second = try table("second", of: ["a"], users, in: pool)
        // All callers read the largest table.
        let common = try table("common", of: ["a", "b", "c"], users, in: pool)
        for key in ["b", "c"] { try deliver(Self.added(key), of: common.carrier) }
        try deliver(Self.added("b"), of: second.carrier)
        pool.settings.values(of: "demo").setLimit(pool.settings.values(of: "demo").used)

        try deliver(Self.added("b"), of: small.carrier)
        #expect(small.resource.status.updates == 2 && sink.present.events[small.resource.id]?.count == 3)
        #expect(second.resource.status.lastError?.code == UpstreamRefusal.valuesCode)
        #expect(second.resource.carrier == nil && !second.resource.status.isActive)
        #expect([small, first, common].allSatisfy { $0.resource.status.isSubscribed })
        #expect(pool.settings.values(of: "demo").used <= pool.settings.values(of: "demo").limit)
    }

    @Test func theSubscriptionOfTheCallerWithTheMostValuesEndsThatHasGrown() throws {
        let users = Users()
        let pool = pool(held: { users.held.withLock { $0 } })
        let small = try table("small", of: ["b"], users, in: pool)
        let first = try table("first", of: ["a"], users, in: pool)
        let second = try table("second", of: ["a"], users, in: pool)
        for key in ["b", "c"] { try deliver(Self.added(key), of: first.carrier) }
        pool.settings.values(of: "demo").setLimit(pool.settings.values(of: "demo").used)
        try deliver(Self.added("b"), of: second.carrier)
        #expect(second.resource.carrier == nil)
        #expect([small, first].allSatisfy { $0.resource.status.isSubscribed })
    }
}
