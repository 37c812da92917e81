internal import Changes
internal import LightstreamerClient
internal import Logging
internal import Testing

@testable import SessionPool

/// The end of a pool.
@Suite struct PoolStopTests {
    /// The process ends afterwards: a session that is not destroyed by then stays open at its server.
    @Test func cancelledPoolWaitsForItsClients() async throws {
        let (removals, source) = AsyncStream.makeStream(of: TopicID.self)
        let pool = SessionPool(
            configuration: PoolConfiguration(
                upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
            ),
            sink: RecordingSink(),
            removed: { source.yield($0) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let clients = try (0..<2).map { _ in
            try pool.createClient(ClientSpecification(target: .upstream("demo")))
        }
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
