internal import Changes
internal import LightstreamerClient
internal import TestSupport
internal import Testing

@testable import SessionPool

/// The end of a pool.
@Suite struct PoolStopTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    /// The process ends afterwards: a session that is not destroyed by then stays open at its server.
    @Test func cancelledPoolWaitsForItsClients() async throws {
        let (removals, source) = AsyncStream.makeStream(of: TopicID.self)
        let pool = pool(removed: { source.yield($0) })
        let clients = try (0..<2).map { _ in try client(in: pool) }
        let running = Task { await pool.run() }
        try pool.deleteClient(clients[0].id)
        for await removed in removals where removed == .client(clients[0].id) { break }
        running.cancel()
        await running.value
        #expect(pool.clients().isEmpty)
        for client in clients {
            let error = #expect(throws: ClientError.self) { try client.core.connect() }
            #expect(error?.code == .shutDown)
        }
    }
}
