internal import Testing

@testable internal import LightstreamerClient

/// `maxConcurrentSessionsPerServer`; each test in a process of its own, because limit and policy apply to all clients.
@Suite struct SessionLimitTests {
    @Test func endedSessionOfTheClientDoesNotCount() async {
        await #expect(processExitsWith: .success) {
            let fixture = try await Self.streaming()
            let client = fixture.client
            let other = try ClientFixture()
            #expect(throws: ClientError.self) { try other.client.connect() }
            // On the client's task, which handles `disconnect()` only after this call of `connect()`.
            let error: ClientError? = await withCheckedContinuation { continuation in
                client.core.perform { _ in
                    client.disconnect()
                    do throws(ClientError) {
                        try client.connect()
                        continuation.resume(returning: nil)
                    } catch {
                        continuation.resume(returning: error)
                    }
                }
            }
            #expect(error == nil)
            await client.shutdown()
            try other.client.connect()
            await other.client.shutdown()
        }
    }

    @Test func sessionCountsForTheAddressThatItWasCreatedAt() async {
        await #expect(processExitsWith: .success) {
            for address in ["http://next.invalid", nil] {
                let fixture = try await Self.streaming { try $0.connectionDetails.setServerAddress(address) }
                let other = try ClientFixture()
                #expect(throws: ClientError.self) { try other.client.connect() }
                try other.client.connectionDetails.setServerAddress("http://next.invalid")
                try other.client.connect()
                await other.client.shutdown()
                await fixture.client.shutdown()
            }
        }
    }

    /// A client whose session streams over HTTP, and takes the only place of its server; `during` is called while the session
    /// is created.
    private static func streaming(
        during: (LightstreamerClient) throws -> Void = { _ in }
    ) async throws -> ClientFixture {
        ConnectionOptions.maxConcurrentSessionsPerServer = 1
        ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy = .block
        let fixture = try ClientFixture()
        try fixture.client.connectionOptions.setForcedTransport(.httpStreaming)
        try fixture.client.connect()
        let creation = try #require(await fixture.connector.next())
        try during(fixture.client)
        creation.say("CONOK,S1,50000,5000,*", "LOOP,0")
        let stream = try #require(await fixture.connector.next())
        stream.say("CONOK,S1,50000,5000,*")
        _ = await fixture.words(until: "status CONNECTED:HTTP-STREAMING")
        return fixture
    }
}
