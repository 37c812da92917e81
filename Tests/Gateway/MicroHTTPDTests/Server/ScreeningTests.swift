internal import Testing

@testable internal import MicroHTTPD

/// Requests that are rejected at their head.
@Suite struct ScreeningTests {
    /// A server that accepts no body whose request lacks the header `Key`, and holds no bytes of others.
    private func server(_ change: (inout DaemonConfiguration) -> Void = { _ in }) throws -> TestServer {
        var configuration = DaemonConfiguration()
        configuration.bodyBudget = 0
        change(&configuration)
        var handler = TestHandler()
        handler.rejection = { $0.headers["Key"] == nil ? HTTPResponse(status: 401) : nil }
        return try TestServer(configuration, handler: handler)
    }

    @Test(arguments: ["Content-Length: 4", "Transfer-Encoding: chunked"])
    func aRejectedBodyIsNotKept(framing: String) throws {
        let server = try server()
        let body = framing.hasPrefix("T") ? "4\r\nabcd\r\n0\r\n\r\n" : "abcd"
        func request(_ header: String) -> String { "POST / HTTP/1.1\r\nHost: x\r\n\(header)\(framing)\r\n\r\n\(body)" }
        // With a budget of 0 bytes, any stored body would be refused.
        #expect(try server.client().exchange(request("")).status == 401)
        let accepted = try? server.client().exchange(request("Key: k\r\n"))
        #expect(accepted.map { $0.status == 503 } ?? true)
    }

    @Test(arguments: [
        ("Content-Length: 4\r\n\r\nabcd", 200), ("Content-Length: 5\r\n\r\nabcde", 413),
        ("Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", 200),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n", 413),
    ])
    func aBodyThatIsNotNeededIsReadAndNotKept(rest: String, status: Int) throws {
        var configuration = DaemonConfiguration()
        (configuration.bodyBudget, configuration.bodyLimit) = (0, 4)
        var handler = TestHandler()
        handler.ignoresBodies = true
        let server = try TestServer(configuration, handler: handler)
        let response = try server.client().exchange("GET / HTTP/1.1\r\nHost: x\r\n\(rest)")
        #expect(response.status == status)
        #expect(!response.text.contains("abcd"))
    }

    @Test func aConnectionServesTheRequestAfterARejectedOne() throws {
        let server = try server()
        let client = try server.client()
        let rejected = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd"
        try client.send(rejected + "GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().status == 401)
        let next = try client.readResponse()
        #expect(next.status == 200)
        #expect(next.text.contains("/next"))
    }

    @Test func clientWithExpectIsRejectedAtOnce() throws {
        let server = try server()
        let client = try server.client()
        let head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        #expect(try client.exchange(head).status == 401)
        #expect(client.isClosedByServer())
    }

    @Test func aRejectedBodyBeyondAllLimitsIsNotRead() throws {
        let server = try server { $0.bodyDiscardLimit = 100 }
        let client = try server.client()
        #expect(try client.exchange("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n").status == 401)
        #expect(client.isClosedByServer())
    }
}
