internal import MicroHTTPD
internal import StreamIO
internal import Testing

@Suite struct LargeResponsesTests {
    /// A server with a budget of 9 MiB that makes responses, of which little goes into the buffers of the system.
    private static func server(_ respond: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws -> TestServer {
        var configuration = DaemonConfiguration()
        configuration.responseBudget = 9 << 20
        configuration.sendBufferSize = 4096
        return try TestServer(configuration, handler: TestHandler { request, _ in .respond(respond(request)) })
    }

    @Test func aResponseLargerThanTheBudgetCutsOffNoOther() throws {
        let sizes = ["/": 4 << 20, "/larger": 10 << 20]
        let server = try Self.server { request in
            let body = [UInt8](repeating: 97, count: sizes[request.rawPath] ?? 0)
            return HTTPResponse(status: 200, body: .bytes(body))
        }
        let clients = try (0..<2).map { _ in try server.client() }
        for client in clients {
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            _ = try client.readHead()
        }
        let refused = try server.client().exchange("GET /larger HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(refused.text == "{\"code\":\"responseBudgetExceeded\"}")
        for client in clients { #expect(try client.readToEnd().count == 4 << 20) }
    }

    /// The bytes of pages are shared: that many clients read a page slowly takes no memory of others.
    @Test func sharedBytesCountOnceForTheirCaller() throws {
        let page = SharedBytes([UInt8](repeating: 97, count: 2 << 20))
        let server = try Self.server { request in
            let own = HTTPResponse.Body.bytes([UInt8](repeating: 97, count: 2 << 20))
            let caller = request.headers["X-Caller"]
            var response = HTTPResponse(status: 200, body: caller == nil ? .shared(page) : own)
            response.caller = caller
            return response
        }
        let clients = try (0..<10).map { number in
            let client = try server.client()
            let caller = number < 6 ? "" : "X-Caller: a\r\n"
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(caller)\r\n")
            _ = try client.readHead()
            return client
        }
        let areWhole = clients.map { (try? $0.readToEnd().count) == 2 << 20 }
        #expect(areWhole == [true, true, true, true, true, true, false, true, true, true])
    }

    @Test func aCallerBeyondTheBudgetHasItsOwnOldestResponseCutOff() throws {
        let server = try Self.server { request in
            var response = HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 97, count: 2 << 20)))
            response.caller = request.headers["X-Caller"]
            return response
        }
        // The responses of a have been sent for longest; those of b exceed the budget.
        let clients = try ["a", "b", "a", "b", "b", "b"].map { caller in
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Caller: \(caller)\r\nConnection: close\r\n\r\n")
            _ = try client.readHead()
            return client
        }
        let areWhole = clients.map { (try? $0.readToEnd().count) == 2 << 20 }
        #expect(areWhole == [true, false, true, false, true, true])
    }
}
