import HTTPFetch
import Testing

@Suite struct HTTPFetchTests {
    @Test func aStreamThatFallsSilentFails() async throws {
        let server = try StallingServer()
        let fetch = try HTTPFetch("http://127.0.0.1:\(server.port)/", timeout: nil, silence: .milliseconds(50))
        await #expect(throws: HTTPFetchError.timeout) { try await fetch.response(upTo: 100) }
    }

    @Test(arguments: [0, 65_536, 70_000]) func aNumberThatIsNoPortIsRefused(port: Int) {
        #expect(throws: HTTPFetchError.invalidURL) { try HTTPFetch("http://127.0.0.1:\(port)/", timeout: nil) }
    }

    /// About one in 15 failed because nothing could be written to the closed connection.
    @Test func aHandshakeThatFailsHasItsReason() async throws {
        for _ in 0..<50 {
            let server = try StallingServer()
            let fetch = try HTTPFetch("https://127.0.0.1:\(server.port)/", timeout: nil)
            let error = await #expect(throws: (any Error).self) { try await fetch.response(upTo: 100) }
            #expect(error.map(NetworkError.sentence) == "it does not speak TLS on this port")
        }
    }

    /// The reason was the same as for a response that is not complete.
    @Test func aConnectionThatIsClosedWithoutAResponseSuggestsTLS() async throws {
        let server = try StallingServer("")
        let fetch = try HTTPFetch("http://127.0.0.1:\(server.port)/", timeout: nil)
        let error = await #expect(throws: HTTPFetchError.noResponse) { try await fetch.response(upTo: 100) }
        #expect(error.map(NetworkError.sentence)?.hasSuffix("if the port speaks TLS, use https://") == true)
    }

    /// The reason was that the connection failed.
    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"])
    func aResponseThatIsNotHTTPIsNamed(response: String) async throws {
        let server = try StallingServer(response)
        let fetch = try HTTPFetch("http://127.0.0.1:\(server.port)/", timeout: .seconds(10))
        let error = await #expect(throws: (any Error).self) { try await fetch.response(upTo: 100) }
        #expect(error.map(NetworkError.sentence) == "the response is not HTTP")
    }

    @Test func aReaderLimitsTheSilenceBeforeEachPart() async throws {
        let server = try StallingServer()
        let fetch = try HTTPFetch("http://127.0.0.1:\(server.port)/", timeout: nil, silence: .seconds(3600))
        try await fetch.read { head, next in
            #expect(head.status == 200)
            let part = try await next(nil)
            #expect(part == Array("{".utf8))
            await #expect(throws: HTTPFetchError.timeout) { try await next(.milliseconds(50)) }
        }
    }
}
