internal import Changes
internal import SessionCore
internal import Synchronization
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

@Suite struct AbandonedClientTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    /// The client ends while the request that has made it is about to report it, or another request that has found it before.
    @Test(arguments: [true, false])
    func theRemovalOfAClientIsReportedAgainAfterALateReportOfItsBeginning(isOfMaker: Bool) throws {
        let pool = pool()
        var changes: [Change] = []
        if !isOfMaker {
            let client = try pool.acquire(Self.key).shared.client
            client.isReported.store(false, ordering: .releasing)
            changes.append(.client(client.id, .added(.disconnected)))
        }
        sink.findClient.withLock { find in
            find = { id in
                guard let client = pool.client(id) else { return nil }
                pool.closeClient(client)
                pool.reportRemoval(of: client)
                return nil
            }
        }
        let id = try pool.acquire(Self.key).shared.client.id
        changes += [.client(id, .removed), .client(id, .added(.disconnected)), .client(id, .removed)]
        #expect(sink.present.ofClients == changes)
    }

    /// The client is here again before its former session has ended.
    @Test func aClientThatAnotherProcessHasReportsItsRemovalAndNothingLater() throws {
        let pool = pool()
        let id = ClientID("c1")
        let former = try client(in: pool, as: id)
        pool.abandon(id)
        #expect(pool.client(id) == nil)
        #expect(sink.present.ofClients == [.client(id, .added(.disconnected)), .client(id, .removed)])
        let present = try client(in: pool, as: id)
        former.client(former.core, emitted: .status(.connecting))
        #expect(sink.present.ofClients.count == 3)
        #expect(pool.client(id) === present)
    }
}
