internal import Dispatch
internal import MicroHTTPD
internal import StreamIO
internal import Synchronization
internal import Testing

@Suite struct AnswerTests {
    private static func fixed(_ response: HTTPResponse) -> TestHandler {
        TestHandler { _, _ in .respond(response) }
    }

    @Test func connectionIsKeptForTheNextRequest() throws {
        let server = try TestServer()
        let client = try server.client()
        for number in 0..<5 {
            let response = try client.exchange("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(response.text.contains("\n/\(number)\n"))
        }
        #expect(server.daemon.figures.connections == 1)
    }

    @Test func headIsAnsweredWithTheLengthAndNoBody() throws {
        let server = try TestServer(handler: Self.fixed(HTTPResponse(status: 200, body: .bytes([1, 2, 3]))))
        let client = try server.client()
        let response = try client.exchange("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(response.header("Content-Length") == "3")
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").body == [1, 2, 3])
    }

    @Test func noContentHasNeitherBodyNorLength() throws {
        let server = try TestServer(handler: Self.fixed(HTTPResponse(status: 204, body: .bytes([1]))))
        let client = try server.client()
        for _ in 0..<2 {
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            let response = try client.readHead()
            #expect(response.status == 204)
            #expect(response.header("Content-Length") == nil)
            #expect(response.header("Transfer-Encoding") == nil)
            #expect(response.header("Connection") == nil)
        }
    }

    @Test(arguments: [HTTPResponse.Body.bytes([1, 2, 3]), .omitted(3)])
    func notModifiedHasTheLengthOfTheOmittedBody(body: HTTPResponse.Body) throws {
        let server = try TestServer(handler: Self.fixed(HTTPResponse(status: 304, body: body)))
        let client = try server.client()
        for _ in 0..<2 {
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().header("Content-Length") == "3")
        }
    }

    @Test func sharedBodyIsSentWholeAndLetGo() throws {
        weak var leaving: SharedBytes?
        do {
            let bytes = SharedBytes([UInt8](repeating: 7, count: 3_000_000))
            leaving = bytes
            let server = try TestServer(handler: Self.fixed(HTTPResponse(status: 200, body: .shared(bytes))))
            let client = try server.client()
            #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").body.count == 3_000_000)
            #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").body.count == 3_000_000)
        }
        #expect(leaving == nil)
    }

    @Test func headerLinesAreSentInOrderAndDangerousOnesAreLeftOut() throws {
        let headers: HTTPFields = [
            HTTPField("Link", "<a>"), HTTPField("X", "1\r\nY: 2"), HTTPField("Link", "<b>"), HTTPField("a b", "1"),
            HTTPField("Content-Length", "99"), HTTPField("Transfer-Encoding", "chunked"),
        ]
        let server = try TestServer(handler: Self.fixed(HTTPResponse(status: 200, headers: headers)))
        let response = try server.client().exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        let sent = response.headers.filter { !["Date", "Content-Length"].contains($0.name) }.map {
            "\($0.name):\($0.value)"
        }
        #expect(sent == ["Link:<a>", "Link:<b>"])
        #expect(response.header("Content-Length") == "0")
    }

    @Test func closeIsHonoured() throws {
        let response = HTTPResponse(status: 200, headers: [HTTPField("Connection", "close")])
        let server = try TestServer(handler: Self.fixed(response))
        let client = try server.client()
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").header("Connection")?.lowercased() == "close")
        #expect(client.isClosedByServer())
    }

    @Test func pipelinedRequestsAreAnsweredInOrderLateOnesIncluded() throws {
        let handled = Mutex<[String]>([])
        let server = try TestServer(
            handler: TestHandler { request, responder in
                handled.withLock { $0.append(request.rawPath) }
                let response = HTTPResponse(status: 200, body: .bytes(Array(request.rawPath.utf8)))
                guard request.rawPath.hasPrefix("/late") else { return .respond(response) }
                DispatchQueue.global().async { responder.respond(response) }
                return .wait
            }
        )
        let client = try server.client()
        let paths = (0..<40).map { $0 % 3 == 0 ? "/late\($0)" : "/\($0)" }
        try client.send(paths.map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        for path in paths { #expect(try client.readResponse().text == path) }
        #expect(handled.withLock { $0 } == paths)
    }

    @Test func onlyTheFirstLateAnswerCounts() throws {
        let server = try TestServer(
            handler: TestHandler { _, responder in
                DispatchQueue.global().async {
                    responder.respond(HTTPResponse(status: 201))
                    responder.respond(HTTPResponse(status: 202))
                }
                return .wait
            }
        )
        let client = try server.client()
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 201)
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 201)
    }

    @Test func answerMadeBeforeTheHandlerReturnsIsGiven() throws {
        let server = try TestServer(
            handler: TestHandler { _, responder in
                responder.respond(HTTPResponse(status: 201))
                return .wait
            }
        )
        #expect(try server.client().exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 201)
    }

    @Test func forgottenAnswerIsAnError() throws {
        let server = try TestServer(handler: TestHandler { _, _ in .wait })
        let client = try server.client()
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 500)
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 500)
    }

    @Test func manyWaitingRequestsAreAnsweredFromManyThreads() throws {
        let server = try TestServer(
            handler: TestHandler { request, responder in
                DispatchQueue.global().async {
                    responder.respond(HTTPResponse(status: 200, body: .bytes(Array(request.rawPath.utf8))))
                }
                return .wait
            }
        )
        let clients = try (0..<200).map { _ in try server.client() }
        for (number, client) in clients.enumerated() { try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n") }
        for (number, client) in clients.enumerated() { #expect(try client.readResponse().text == "/\(number)") }
    }
}
