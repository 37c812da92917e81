internal import Primitives
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// Changes of the properties of a subscription resource.
@Suite struct SubscriptionChangeTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    private static func quote(_ frequency: RequestedMaxFrequency? = nil) -> SubscriptionProperties {
        var properties = key.properties
        properties.requestedMaxFrequency = frequency
        return properties
    }

    private func active(_ pool: SessionPool, _ properties: SubscriptionProperties) throws -> SubscriptionResource {
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: properties)
        try pool.activate(resource)
        return resource
    }

    @Test func inactiveResourceTakesAnyProperties() throws {
        let pool = pool()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.quote())
        var other = Self.quote(.unfiltered)
        other.items = .group("g")
        try pool.change(resource, to: other)
        #expect(resource.properties == other)
        #expect(resource.carrier == nil)
        #expect(sink.present.changed == [other])
    }

    @Test func frequencyOfTheOnlyUserChangesInPlace() throws {
        let pool = pool()
        let resource = try active(pool, Self.quote(.limited(1)))
        let carrier = resource.carrier
        try pool.change(resource, to: Self.quote(.limited(2)))
        #expect(resource.carrier === carrier)
        #expect(resource.properties.requestedMaxFrequency == .limited(2))
        #expect(carrier?.subscription.requestedMaxFrequency == .limited(2))
    }

    @Test func nextReaderOfTheFormerFrequencyDoesNotGetTheNewOne() throws {
        let pool = pool()
        let key = SharedKey(session: Self.key.session, properties: Self.quote(.limited(1)))
        let former = try pool.joinImplicit(key).resource
        let resource = try active(pool, key.properties)
        pool.leaveImplicit(former)
        try pool.change(resource, to: Self.quote(.limited(2)))
        let reader = try pool.joinImplicit(key).resource
        #expect(reader.carrier?.subscription.requestedMaxFrequency == .limited(1))
        #expect(resource.carrier?.subscription.requestedMaxFrequency == .limited(2))
        #expect(pool.users == 2 && pool.resources().count == 2)
        #expect(sink.present.faults.isEmpty)
    }

    @Test func frequencyOfASharedSubscriptionMovesTheResource() throws {
        let pool = pool()
        let first = try active(pool, Self.quote(.limited(1)))
        let second = try active(pool, Self.quote(.limited(1)))
        #expect(first.carrier === second.carrier)
        try pool.change(second, to: Self.quote(.limited(2)))
        #expect(first.carrier !== second.carrier)
        #expect(first.carrier?.subscription.requestedMaxFrequency == .limited(1))
        #expect(second.carrier?.subscription.requestedMaxFrequency == .limited(2))
        #expect(sink.present.faults.isEmpty)
    }

    /// Confirms a subscription.
    private func confirm(_ shared: SharedSubscription) throws {
        try deliver(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil), of: shared)
    }

    /// The session of a subscription delivers; its client makes no attempt by itself any more.
    private func connect(_ shared: SharedSubscription) async throws {
        let client = shared.client.core
        await client.shutdown()
        // The end of the client was that of the subscription.
        _ = try shared.subscription.activate(SubscriptionToken(1), on: client.core)
        shared.client.client(client, emitted: .status(.connectedWSStreaming))
    }

    /// Changes the values of a subscription, and delivers the event.
    private func deliver(_ event: SubscriptionEvent, of shared: SharedSubscription) throws {
        let token = try #require(shared.subscription.state.withLock { $0.token })
        _ = shared.subscription.take(event, of: token, at: .zero)
        shared.subscription(shared.subscription, emitted: event)
    }

    private func update(_ value: String) -> SubscriptionEvent {
        let layout = SubscriptionLayout(itemNames: ["item1"], fieldNames: ["last_price"], fieldCount: 1)
        let changed = FieldSet(all: 1)
        return .update(ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: [value], changed: changed))
    }

    /// Two resources of one subscription, of which the second one moves to another subscription, with another value.
    private func moving(
        _ pool: SessionPool
    ) throws -> (SubscriptionResource, from: SharedSubscription, to: SharedSubscription) {
        let resources = try [1.0, 1, 2].map { try active(pool, Self.quote(.limited($0))) }
        let (former, target) = (try #require(resources[1].carrier), try #require(resources[2].carrier))
        for (shared, value) in [(former, "1"), (target, "2")] {
            try confirm(shared)
            try deliver(update(value), of: shared)
        }
        let key = SharedKey(session: Self.key.session, properties: Self.quote(.limited(2)))
        #expect(try pool.acquire(key).shared === target)
        #expect(target.expect(resources[1], from: former) && former.release(resources[1]))
        return (resources[1], former, target)
    }

    @Test func eventsDuringTheComparisonOfAMoveFollow() throws {
        let pool = pool()
        let (resource, former, target) = try moving(pool)
        let updates = resource.status.updates
        let difference = target.compare(resource)
        #expect(difference == [update("2")])
        try deliver(update("3"), of: target)
        #expect(resource.status.updates == updates)
        #expect(target.take(resource, from: former, difference))
        #expect(resource.status.updates == updates + 2 && resource.carrier === target)
        try deliver(update("4"), of: target)
        #expect(resource.status.updates == updates + 3)
    }

    /// The values change before the event is delivered.
    @Test func anUpdateThatTheComparisonOfAMoveHasReadDoesNotFollow() throws {
        let pool = pool()
        let (resource, former, target) = try moving(pool)
        let updates = resource.status.updates
        let token = try #require(target.subscription.state.withLock { $0.token })
        _ = target.subscription.take(update("3"), of: token, at: .zero)
        let difference = target.compare(resource)
        #expect(difference == [update("3")])
        target.subscription(target.subscription, emitted: update("3"))
        try deliver(update("4"), of: target)
        #expect(target.take(resource, from: former, difference))
        #expect(resource.status.updates == updates + 2)
    }

    @Test func readersOfAResourceWhoseTargetEndsDuringTheComparisonAreUnsubscribed() throws {
        let pool = pool()
        let (resource, former, target) = try moving(pool)
        let difference = target.compare(resource)
        target.end()
        #expect(target.take(resource, from: former, difference))
        #expect(!resource.status.isActive && resource.carrier == nil)
        #expect(sink.present.events[resource.id]?.last == .unsubscribed(isFinal: true))
        #expect(sink.present.faults.isEmpty)
    }

    @Test func aResourceThatIsDeletedDuringTheComparisonOfAMoveIsGone() throws {
        let pool = pool()
        let (resource, former, target) = try moving(pool)
        let difference = target.compare(resource)
        try pool.delete(resource.id)
        #expect(!target.take(resource, from: former, difference))
        #expect(pool.users == 2 && target.resources.count == 1)
        #expect(sink.present.resources.count == 2)
    }

    @Test func moveToASessionThatIsRefusedRefusesTheResource() throws {
        let pool = pool { $0.upstreams[0].maxSubscriptionsPerSession = 1 }
        let first = try active(pool, Self.quote(.limited(1)))
        let second = try active(pool, Self.quote(.limited(1)))
        let carrier = try #require(first.carrier)
        carrier.subscription(
            carrier.subscription,
            emitted: .subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil)
        )
        let refused = try #require(active(pool, Self.quote(.limited(3))).client)
        refused.client(refused.core, emitted: .serverError(code: 1, message: "wrong password"))
        try second.changes.withLock { _ throws(PoolError) in try pool.change(second, to: Self.quote(.limited(2))) }
        pool.timePassed()
        #expect(second.status.lastError?.code == 1 && !second.status.isActive)
        #expect(first.status.isSubscribed && first.carrier === carrier)
        #expect(sink.present.faults.isEmpty)
    }

    /// The resource ended, but only if it shared its upstream subscription: one that changes alone keeps the old frequency.
    @Test(arguments: [SubscriptionEvent.failed(code: -7, message: "no"), .unsubscribed(isFinal: true)])
    func aFrequencyThatIsRefusedLeavesTheSubscription(end: SubscriptionEvent) throws {
        let pool = pool()
        let resources = try (0..<2).map { _ in try active(pool, Self.quote(.limited(2))) }
        let former = try #require(resources[0].carrier)
        try confirm(former)
        try deliver(.realMaxFrequency(.limited(2)), of: former)
        try pool.change(resources[0], to: Self.quote(.limited(1)))
        let target = try #require(resources[0].moveTarget)
        target.subscription(target.subscription, emitted: end)
        #expect(resources[0].carrier === former && resources[0].moveTarget == nil)
        let status = resources[0].status
        #expect(status.isSubscribed && status.lastError == nil && status.realMaxFrequency == .limited(2))
        #expect(resources[0].properties.requestedMaxFrequency == .limited(1))
        try deliver(update("3"), of: former)
        #expect(sink.present.events[resources[0].id]?.last == update("3") && pool.users == 2)
        // Another change is possible.
        try pool.change(resources[0], to: Self.quote(.limited(3)))
        let next = try #require(resources[0].moveTarget)
        try confirm(next)
        try deliver(update("4"), of: next)
        #expect(resources[0].carrier === next && pool.users == 2)
        #expect(sink.present.faults.isEmpty)
    }

    /// Readers got older values of the target, and nothing more until its session had recovered.
    @Test(arguments: [ClientStatus.disconnectedTryingRecovery, .stalled])
    func aMoveWaitsWhileTheSessionOfItsTargetIsInterrupted(status: ClientStatus) async throws {
        let pool = pool { $0.upstreams[0].maxSubscriptionsPerSession = 1 }
        let resources = try [1.0, 1, 2].map { try active(pool, Self.quote(.limited($0))) }
        let (former, target) = (try #require(resources[1].carrier), try #require(resources[2].carrier))
        for (shared, value) in [(former, "2"), (target, "1")] {
            try await connect(shared)
            try confirm(shared)
            try deliver(update(value), of: shared)
        }
        target.client.client(target.client.core, emitted: .status(status))
        try pool.change(resources[1], to: Self.quote(.limited(2)))
        try deliver(update("3"), of: former)
        #expect(resources[1].carrier === former && resources[1].moveTarget === target)
        #expect(sink.present.events[resources[1].id]?.last == update("3"))
        // The recovery brings what was missed, before its status.
        try deliver(update("2"), of: target)
        try deliver(update("3"), of: target)
        #expect(resources[1].carrier === former)
        target.client.client(target.client.core, emitted: .status(.connectedWSStreaming))
        #expect(resources[1].carrier === target && resources[1].moveTarget == nil)
        #expect(sink.present.events[resources[1].id]?.last == update("3"))
        try deliver(update("4"), of: target)
        #expect(sink.present.events[resources[1].id]?.last == update("4"))
        #expect(sink.present.carried[resources[1].id] == target.client.id && pool.users == 3)
    }

    /// The values of the second item were gone until the target had them.
    @Test func aMoveWaitsForValuesThatReadersGetMeanwhile() throws {
        let pool = pool()
        func quotes(_ frequency: Double) -> SubscriptionProperties {
            var properties = Self.quote(.limited(frequency))
            properties.items = .list(["item1", "item2"])
            return properties
        }
        func update(_ item: Int) -> SubscriptionEvent {
            let layout = SubscriptionLayout(itemNames: ["item1", "item2"], fieldNames: ["last_price"], fieldCount: 1)
            let changed = FieldSet(all: 1)
            return .update(ItemUpdate(layout: layout, itemPos: item, isSnapshot: true, values: ["1"], changed: changed))
        }
        let resources = try [1.0, 1, 2].map { try active(pool, quotes($0)) }
        let (former, target) = (try #require(resources[1].carrier), try #require(resources[2].carrier))
        for shared in [former, target] {
            try deliver(.subscribed(itemCount: 2, fieldCount: 1, keyPosition: nil, commandPosition: nil), of: shared)
        }
        try deliver(update(1), of: former)
        try pool.change(resources[1], to: quotes(2))
        try deliver(update(2), of: former)
        try deliver(update(1), of: target)
        #expect(resources[1].carrier === former && resources[1].moveTarget === target)
        try deliver(update(2), of: target)
        #expect(resources[1].carrier === target && resources[1].moveTarget == nil)
    }

    @Test func targetOfAMoveWhoseFormerSubscriptionHasEndedIsReleased() throws {
        let pool = pool()
        let resources = try (0..<2).map { _ in try active(pool, Self.quote(.limited(1))) }
        let former = try #require(resources[1].carrier)
        try confirm(former)
        try pool.change(resources[1], to: Self.quote(.limited(2)))
        let target = try #require(resources[1].moveTarget)
        try deliver(.failed(code: -1, message: "no such item"), of: former)
        try confirm(target)
        #expect(resources.allSatisfy { !$0.status.isActive } && resources[1].moveTarget == nil)
        #expect(pool.users == 0)
    }

    @Test func frequencyThatChangesBackDuringAMoveEndsIt() throws {
        let pool = pool()
        let resources = try (0..<2).map { _ in try active(pool, Self.quote(.limited(1))) }
        let former = try #require(resources[1].carrier)
        try confirm(former)
        for frequency in [2.0, 1] { try pool.change(resources[1], to: Self.quote(.limited(frequency))) }
        #expect(resources[1].carrier === former && resources[1].moveTarget == nil)
        #expect(pool.users == 2)
    }

    /// The values of a target come, or it is refused, while a request moves the resource to another one.
    @Test(arguments: [nil, UpstreamRefusal(code: -1, message: "no such item")])
    func theEndOfAMoveDoesNotEndTheNextOne(refusal: UpstreamRefusal?) throws {
        let pool = pool()
        let resources = try (0..<2).map { _ in try active(pool, Self.quote(.limited(1))) }
        let resource = resources[1]
        let former = try #require(resource.carrier)
        try confirm(former)
        try pool.change(resource, to: Self.quote(.limited(2)))
        let first = try #require(resource.moveTarget)
        try pool.change(resource, to: Self.quote(.limited(3)))
        let second = try #require(resource.moveTarget)
        pool.arrived(resource, at: first, refusal)
        #expect(resource.carrier === former && resource.moveTarget === second)
        #expect(pool.users == 3)
        try confirm(second)
        #expect(resource.carrier === second && pool.users == 2)
    }

    /// The properties are those of the target.
    @Test func aChangeThatIsRefusedDuringAMoveLeavesTheMove() throws {
        let pool = pool { $0.upstreams[0].maxSubscriptions = 2 }
        let resources = try [1.0, 1, 2].map { try active(pool, Self.quote(.limited($0))) }
        let target = try #require(resources[2].carrier)
        try confirm(try #require(resources[1].carrier))
        try pool.change(resources[1], to: Self.quote(.limited(2)))
        var other = Self.quote(.limited(2))
        other.selector = "s"
        for properties in [other, Self.quote(.unfiltered), Self.quote(.limited(3))] {
            #expect(throws: PoolError.self) { try pool.change(resources[1], to: properties) }
            #expect(resources[1].moveTarget === target && resources[1].properties == Self.quote(.limited(2)))
        }
        try confirm(target)
        #expect(resources[1].carrier === target && pool.users == 3)
    }

    @Test func changeOverQuotaKeepsTheOldProperties() throws {
        let pool = pool { $0.upstreams[0].maxSubscriptions = 1 }
        let first = try active(pool, Self.quote(.limited(1)))
        let second = try active(pool, Self.quote(.limited(1)))
        #expect(throws: PoolError.self) { try pool.change(second, to: Self.quote(.limited(2))) }
        #expect(second.properties == Self.quote(.limited(1)))
        #expect(second.carrier === first.carrier && second.carrier != nil)
        #expect(sink.present.faults.isEmpty)
    }

    /// The request is performed again once there are credits, also with the entity tag of the present state.
    @Test func changeThatNeedsCreditsHasNoEffectWithoutThem() throws {
        let pool = pool()
        pool.requireCredits()
        pool.changeCredits(of: "demo") { credits, _ in
            credits.add(UpstreamCredits(sessions: 1, subscriptions: 1, items: 9), of: "demo")
        }
        let first = try active(pool, Self.quote(.limited(1)))
        let second = try active(pool, Self.quote(.limited(1)))
        let version = second.status.version
        #expect(throws: PoolError.self) { try pool.change(second, to: Self.quote(.limited(2))) }
        #expect(second.carrier === first.carrier && second.carrier != nil)
        #expect(second.status.version == version)
        pool.changeCredits(of: "demo") { credits, _ in
            credits.add(UpstreamCredits(sessions: 0, subscriptions: 1, items: 0), of: "demo")
        }
        try pool.change(second, to: Self.quote(.limited(2)))
        #expect(second.carrier !== first.carrier)
    }

    @Test(arguments: [
        (RequestedMaxFrequency?.some(.limited(1)), RequestedMaxFrequency?.none), (.limited(1), .unfiltered),
        (.unfiltered, .limited(1)),
    ])
    func forbiddenFrequencyChangesAreRefusedWhileActive(
        from: RequestedMaxFrequency?,
        to: RequestedMaxFrequency?
    ) throws {
        let pool = pool()
        let resource = try active(pool, Self.quote(from))
        #expect(throws: PoolError.self) { try pool.change(resource, to: Self.quote(to)) }
        #expect(resource.properties == Self.quote(from))
    }

    @Test func otherPropertiesAreRefusedWhileActive() throws {
        let pool = pool()
        let resource = try active(pool, Self.quote())
        var other = Self.quote()
        other.selector = "s"
        #expect(
            throws: PoolError.lifecycle(
                rule: "only requestedMaxFrequency and ttl may change while the subscription is active"
            )
        ) {
            try pool.change(resource, to: other)
        }
        #expect(resource.properties == Self.quote())
    }

    /// Counts deliveries under the lock of a loop, which no lock of the pool may be held for.
    private final class Deliveries: Sendable {
        let count = RankedMutex(0, rank: .loopTurn)
    }

    @Test func eventsAreDeliveredWithoutALock() throws {
        let pool = pool()
        let carrier = try #require(try active(pool, Self.quote()).carrier)
        let deliveries = Deliveries()
        sink.delivery.withLock { $0 = { deliveries.count.withLock { $0 += 1 } } }
        carrier.subscription(carrier.subscription, emitted: .endOfSnapshot(itemPos: 1))
        carrier.subscription(carrier.subscription, emitted: .unsubscribed(isFinal: true))
        // The end is a refusal, followed by `unsubscribed`.
        #expect(deliveries.count.withLock { $0 } == 3)
    }
}
