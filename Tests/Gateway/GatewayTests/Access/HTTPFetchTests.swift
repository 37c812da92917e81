import HTTPFetch
import Testing

@Suite struct HTTPFetchTests {
    @Test func aStreamThatFallsSilentFails() async throws {
        let server = try StallingServer()
        let fetch = try HTTPFetch("http://127.0.0.1:\(server.port)/", timeout: nil, silence: .milliseconds(50))
        await #expect(throws: HTTPFetchError.timeout) { try await fetch.response(upTo: 100) }
    }
}
