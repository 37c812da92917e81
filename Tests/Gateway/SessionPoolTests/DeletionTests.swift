internal import Changes
internal import Logging
internal import Primitives
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import SessionPool

/// Subscriptions that are deleted while another request changes them.
@Suite struct DeletionTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    private func created(_ pool: SessionPool) throws -> SubscriptionResource {
        try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
    }

    /// Deletes a subscription at the time when the pool adds its next client.
    private func delete(_ resource: SubscriptionResource, whenAClientIsAddedTo pool: SessionPool) {
        sink.findClient.withLock {
            $0 = { [weak pool] _ in
                try? pool?.delete(resource.id)
                return nil
            }
        }
    }

    @Test func subscriptionThatIsDeletedWhileItBecomesActiveIsClosed() throws {
        let pool = pool()
        let resource = try created(pool)
        delete(resource, whenAClientIsAddedTo: pool)
        #expect(throws: PoolError.unknownSubscription(resource.id.rawValue)) { try pool.activate(resource) }
        #expect(!resource.status.isActive && pool.users == 0)
        pass(5, in: pool)
        #expect(pool.figures(of: "demo").subscriptions == 0)
    }

    /// Its client takes along the subscriptions that it has when it is deleted.
    @Test func subscriptionOfAClientThatIsDeletedMeanwhileIsNotCreated() throws {
        let deletion = Mutex<(@Sendable () -> Void)?>(nil)
        let clock: @Sendable () -> Moment = { [time] in
            deletion.withLock { $0.take() }?()
            return time.moment
        }
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let pool = SessionPool(configuration: .demo(), sink: sink, logger: logger, clock: clock)
        let client = try client(in: pool)
        // When the pool notes that the client is used.
        deletion.withLock { $0 = { [weak pool] in try? pool?.deleteClient(client.id) } }
        #expect(throws: PoolError.unknownClient(client.id.rawValue)) {
            try pool.createResource(home: .dedicated(client.id), properties: Self.key.properties)
        }
        #expect(pool.clients().isEmpty && pool.resourceCount == 0)
    }

    @Test func targetOfASubscriptionThatIsDeletedWhileItBeginsToMoveIsClosed() throws {
        let pool = pool { $0.upstreams[0].maxSubscriptionsPerSession = 1 }
        var properties = Self.key.properties
        properties.requestedMaxFrequency = .limited(1)
        let resources = try (0..<2).map { _ in
            try pool.createResource(home: .pooled(Self.key.session), properties: properties)
        }
        for resource in resources { try pool.activate(resource) }
        let carrier = try #require(resources[1].carrier)
        try deliver(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil), of: carrier)
        delete(resources[1], whenAClientIsAddedTo: pool)
        properties.requestedMaxFrequency = .limited(2)
        #expect(throws: PoolError.unknownSubscription(resources[1].id.rawValue)) {
            try pool.change(resources[1], to: properties)
        }
        #expect(pool.users == 1)
        pass(5, in: pool)
        #expect(pool.figures(of: "demo").subscriptions == 1 && resources[0].status.isActive)
    }

    @Test func deletionAndDeactivationAtOnceRemoveOneUser() async throws {
        let pool = pool()
        let reader = try pool.joinImplicit(Self.key).resource
        for _ in 0..<2_000 {
            let resource = try created(pool)
            try pool.activate(resource)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { pool.deactivate(resource) }
                group.addTask { try? pool.delete(resource.id) }
            }
        }
        #expect(pool.users == 1)
        pass(5, in: pool)
        #expect(reader.status.isActive)
    }
}
