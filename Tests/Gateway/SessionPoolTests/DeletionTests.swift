internal import Changes
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import SessionPool

/// Subscriptions that are deleted while another request changes them.
@Suite struct DeletionTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    private func created(_ pool: SessionPool, _ home: SubscriptionHome? = nil) throws -> SubscriptionResource {
        try pool.createResource(home: home ?? .pooled(Self.key.session), properties: Self.key.properties)
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
        #expect(pool.figures(of: "demo").users == 1)
        pass(5, in: pool)
        #expect(reader.status.isActive)
    }
}
