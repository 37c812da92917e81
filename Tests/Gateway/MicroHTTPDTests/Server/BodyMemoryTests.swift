internal import Dispatch
internal import MicroHTTPD
internal import Synchronization
internal import Testing

@Suite struct BodyMemoryTests {
    /// A request whose handler goes on after the client has left.
    private final class LongRequest: Sendable {
        let responder = Mutex<HTTPResponder?>(nil)
        let hasLost = DispatchSemaphore(value: 0)

        var handler: TestHandler {
            TestHandler { request, responder in
                if request.method == "GET" { return .respond(HTTPResponse(status: 200)) }
                self.responder.withLock { $0 = responder }
                responder.onAbandonment { self.hasLost.signal() }
                return .wait
            }
        }
    }

    /// As with an `Idempotency-Key`: each request of a client that left at once had memory that counted nowhere.
    @Test func aBodyCountsUntilTheHandlerReleasesTheRequestOfAClientThatHasLeft() throws {
        let request = LongRequest()
        let server = try TestServer(handler: request.handler)
        do {
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n")
            try client.send([UInt8](repeating: UInt8(ascii: "a"), count: 300))
            while request.responder.withLock({ $0 == nil }) {
                _ = try server.client().exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            }
        }
        request.hasLost.wait()
        let other = try server.client()
        repeat {
            _ = try other.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        } while server.daemon.figures.connections > 1
        #expect(server.daemon.figures.bodies.used == 300)
        request.responder.withLock { $0.take() }?.respond(HTTPResponse(status: 200))
        #expect(server.daemon.figures.bodies.used == 0)
    }

    /// The first chunk alone exceeds the memory, or the third one does.
    @Test(arguments: [[2_000], [400, 400, 400]])
    func aChunkedBodyBeyondTheBudgetIsRefusedAfterItWasRead(chunks: [Int]) throws {
        var configuration = DaemonConfiguration()
        configuration.bodyBudget = 1_000
        let server = try TestServer(configuration)
        let (client, other) = (try server.client(), try server.client())
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for size in chunks { try client.send(chunk([UInt8](repeating: UInt8(ascii: "a"), count: size))) }
        // The end of the body is missing, and its memory is free.
        repeat {
            _ = try other.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        } while server.daemon.figures.refusedRequests == 0 && server.daemon.figures.connections == 2
        #expect(server.daemon.figures.bodies.used == 0)
        try client.send("0\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 503)
        #expect(response.text == "{\"code\":\"bodyBudgetExceeded\"}")
        #expect(client.isClosedByServer())
    }

    /// Behind a proxy, all callers have the same address.
    @Test func oneCallerTakesOnlyAPartOfTheMemory() throws {
        var configuration = DaemonConfiguration()
        (configuration.bodyBudget, configuration.bodyLimit) = (1_000, 500)
        var handler = TestHandler()
        handler.caller = { $0.headers["X-Caller"] }
        let server = try TestServer(configuration, handler: handler)
        let (slow, other) = (try server.client(), try server.client())
        func post(_ caller: String, _ size: Int) -> String {
            "POST / HTTP/1.1\r\nHost: x\r\nX-Caller: \(caller)\r\nContent-Length: \(size)\r\n\r\n"
        }
        let body = String(repeating: "a", count: 400)
        try slow.send(post("a", 400))
        repeat {
            _ = try other.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        } while server.daemon.figures.bodies.used == 0
        #expect(try server.client().exchange(post("a", 200)).text == "{\"code\":\"bodyBudgetExceeded\"}")
        #expect(try other.exchange(post("b", 400) + body).status == 200)
        #expect(try slow.exchange(body).status == 200)
        // The former request of the connection has ended.
        #expect(try slow.exchange(post("a", 400) + body).status == 200)
    }
}
