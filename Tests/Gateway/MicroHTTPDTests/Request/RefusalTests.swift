internal import MicroHTTPD
internal import Testing

@Suite struct RefusalTests {
    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", RequestRefusal.duplicateHost),
        ("GET / HTTP/1.1\r\n\r\n", .missingHost),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", .duplicateContentLength),
        (
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            .contentLengthWithTransferEncoding
        ),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .unsupportedTransferEncoding),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n", .malformedHead),
        ("POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .unsupportedTransferEncoding),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", .malformedHead),
        ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("G{T / HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: \u{1}\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: user@x\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x/y\r\n\r\n", .malformedHead),
        ("GET /a\0/b HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET /a?b\0c HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET\0X /a HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\nD: e\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\0\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\0\r\nC: d\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\n\n", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\0 1\r\nA: b\r\n\r\nabc", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", .malformedHead),
        ("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\nD: e\r\n\r\n", .malformedHead),
        ("GET   /a HTTP/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: one\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\na", .malformedHead),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\na", .bodyTooLarge),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 00000000000000000001\r\n\r\na", .bodyTooLarge),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", .malformedHead),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", .unsupportedVersion),
        ("GET / HTTP/0.9\r\nHost: x\r\n\r\n", .unsupportedVersion),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .unsupportedVersion),
        ("GET / HTTP/1.11\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET / http/1.1\r\nHost: x\r\n\r\n", .malformedHead),
        ("GET /\r\nHost: x\r\n\r\n", .malformedHead),
    ])
    func badHeadIsRefusedInTheHandlersWordsAndTheConnectionCloses(request: String, refusal: RequestRefusal) throws {
        let server = try TestServer()
        let client = try server.client()
        let response = try client.exchange(request)
        #expect(response.status == refusal.status)
        #expect(response.header("Connection")?.lowercased() == "close")
        #expect(response.header("Content-Type") == "application/problem+json")
        #expect(response.text == "{\"code\":\"\(refusal)\"}")
        #expect(response.header("X-Peer") == "127.0.0.1")
        // Nothing follows the response.
        #expect(client.isClosedByServer())
        #expect(server.daemon.figures.requests == 0)
    }

    /// The library ends the head at these lines, and would take what follows for another request.
    @Test(arguments: [
        "Host: x\r\n: b\r\n", "Host: x\r\n:\r\n", "Host: x\r\n:\n", "Host: x\n:\n", "Host: x\r\n \r\n:\r\n",
        "Host: x\r\n\0\r\n",
        "Host: x\r\n\0A: b\r\n", "Host: x\n\0A: b\n", ":\r\nHost: x\r\n", "\0\r\nHost: x\r\n", "\0A: b\nHost: x\n",
    ])
    func aLineWithoutNameIsRefused(lines: String) throws {
        let server = try TestServer()
        let client = try server.client()
        try client.send("GET / HTTP/1.1\r\n\(lines)GET /second HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().status == 400)
        #expect(client.isClosedByServer())
        #expect(server.daemon.figures.requests == 0)
    }

    @Test func manyCookiesAreTaken() throws {
        let cookies = String(repeating: "a=b; ", count: 2_000)
        let server = try TestServer()
        let response = try server.client().exchange("GET / HTTP/1.1\r\nHost: x\r\nCookie: \(cookies)\r\n\r\n")
        #expect(response.status == 200)
    }

    @Test func targetThatIsNotUTF8IsRefused() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.send(Array("GET /".utf8) + [0xFF, 0xC0] + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        #expect(try client.readResponse().status == 400)
    }

    @Test(arguments: [
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a\nb\r\na\r\n0\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\r\nA: b\nC: d\r\n\r\n",
    ])
    func aRequestOfDoubtfulFramingIsTheLastOnItsConnection(request: String) throws {
        let server = try TestServer()
        let client = try server.client()
        try client.send(request + "GET /second HTTP/1.1\r\nHost: x\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.header("Connection")?.lowercased() == "close")
        #expect(!response.text.contains("/second"))
        #expect(client.isClosedByServer())
        #expect(server.daemon.figures.requests <= 1)
    }

    @Test func ordinaryRequestsKeepTheirConnection() throws {
        let server = try TestServer()
        let client = try server.client()
        let lines = "Host: x\r\nEmpty:\r\nBlank:   \r\nTab:\ta \t\r\nContent-Length: 1\r\n"
        for _ in 0..<3 {
            let response = try client.exchange("POST / HTTP/1.1\r\n\(lines)\r\na")
            #expect(response.status == 200)
            #expect(response.header("Connection") == nil)
        }
    }

    @Test func requestBehindARefusedOneIsNotTakenUp() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.send("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readResponse().status == 400)
        #expect(client.isClosedByServer())
        #expect(server.daemon.figures.requests == 0)
    }
}
