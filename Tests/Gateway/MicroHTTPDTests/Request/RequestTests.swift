internal import MicroHTTPD
internal import Testing

@Suite struct RequestTests {
    @Test func targetArrivesExactlyAsSent() throws {
        let server = try TestServer()
        let client = try server.client()
        let target = "/v1/a%2Fb%00c+d/?b=1&a&b=%2f&&=x+y%zz&c="
        let lines = try client.exchange("GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n").text.split(separator: "\n")
        #expect(lines[1] == "/v1/a%2Fb%00c+d/")
        #expect(lines[2] == "b=1&a&b=%2f&&=x+y%zz&c=")
    }

    @Test(arguments: [
        ("/", "/", "no query"), ("/?", "/", ""), ("/a?b?c", "/a", "b?c"), ("*", "*", "no query"),
        ("http://h:1/p/q?x=1", "/p/q", "x=1"), ("http://h", "/", "no query"), ("http://h?x", "/", "x"),
        ("/a://b", "/a://b", "no query"), ("//x//y", "//x//y", "no query"),
        ("a?b=http://h/p", "a", "b=http://h/p"), ("a/b://h/p", "a/b://h/p", "no query"),
    ])
    func targetIsSplitAtTheFirstQuestionMark(target: String, path: String, query: String) throws {
        let server = try TestServer()
        let text = try server.client().exchange("OPTIONS \(target) HTTP/1.1\r\nHost: x\r\n\r\n").text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[1] == path)
        #expect(lines[2] == query)
    }

    @Test func theAuthorityOfAnAbsoluteTargetReplacesHost() throws {
        let server = try TestServer()
        let client = try server.client()
        let text = try client.exchange("GET http://other:81/p?q HTTP/1.1\r\nHost: x\r\n\r\n").text
        #expect(text == "GET\n/p\nq\nHost=other:81\n")
        let malformed = try client.exchange("GET http://user@other/ HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(malformed.status == 400)
    }

    @Test func headersKeepOrderCaseAndRepetition() throws {
        let server = try TestServer()
        let text = try server.client().exchange(
            "BREW / HTTP/1.1\r\nX-b: 1\r\nHost: h\r\nx-A:  two words \r\nX-B: 3\r\nEmpty:\r\n\r\n"
        ).text
        #expect(text == "BREW\n/\nno query\nX-b=1\nHost=h\nx-A=two words\nX-B=3\nEmpty=\n")
    }

    @Test func bodyArrivesWhole() throws {
        let server = try TestServer()
        let client = try server.client()
        let body = String(repeating: "0123456789", count: 30_000)
        let text = try client.exchange(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        ).text
        #expect(text.split(separator: "\n").last.map(String.init) == body)
    }

    @Test func chunkedBodyArrivesWithoutItsFraming() throws {
        let server = try TestServer()
        let text = try server.client().exchange(
            "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;e=1\r\ndefg\r\n0\r\n\r\n"
        ).text
        #expect(text.hasSuffix("\nabcdefg"))
    }

    @Test func bodyIsInvitedWhenTheClientAsks() throws {
        let server = try TestServer()
        let client = try server.client()
        try client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.readHead().status == 100)
        try client.send("abc")
        #expect(try client.readResponse().text.hasSuffix("\nabc"))
    }

    @Test func requestsOfOneConnectionShareItsPeer() throws {
        let server = try TestServer(
            handler: TestHandler { request, _ in
                let peer = "\(request.peer.host) \(request.peer.port)"
                return .respond(HTTPResponse(status: 200, body: .bytes(Array(peer.utf8))))
            }
        )
        let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        let first = try server.client()
        let second = try server.client()
        let peer = try first.exchange(request).text
        #expect(peer.hasPrefix("127.0.0.1 "))
        #expect(try second.exchange(request).text != peer)
        #expect(try first.exchange(request).text == peer)
    }

    @Test func requestsOfHTTP10AreAnsweredAndTheirConnectionIsClosed() throws {
        let server = try TestServer()
        let client = try server.client()
        let response = try client.exchange("GET / HTTP/1.0\r\n\r\n")
        #expect(response.status == 200)
        #expect(client.isClosedByServer())
    }
}
