internal import Dispatch
internal import Glibc
internal import StreamIO
internal import Testing

@testable internal import MicroHTTPD

@Suite struct PlainStreamTests {
    private static let request = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func headAndFirstBytesComeAtOnceInChunks() throws {
        let content = TestContent(["data: 1\n\n"])
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send(Self.request)
        let head = try client.readHead()
        #expect(head.statusLine == "HTTP/1.1 200 OK")
        #expect(head.header("Transfer-Encoding") == "chunked")
        #expect(head.header("Content-Type") == "text/event-stream")
        #expect(head.header("Connection") == "close")
        #expect(head.header("Date")?.hasSuffix(" GMT") == true)
        #expect(try client.readChunk() == Array("data: 1\n\n".utf8))
        #expect(content.framing == .chunked)
    }

    @Test func bytesComeAsTheyArePushedUntilTheEnd() throws {
        let content = TestContent()
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send(Self.request)
        _ = try client.readHead()
        for number in 0..<100 {
            content.push("event \(number)")
            #expect(try client.readChunk() == Array("event \(number)".utf8))
        }
        content.push("last")
        content.finish()
        #expect(try client.readChunk() == Array("last".utf8))
        #expect(try client.readChunk() == nil)
        #expect(client.isClosedByServer())
        #expect(content.waitForEnd() == .finished)
    }

    @Test func oldClientGetsBareBytesUntilTheConnectionCloses() throws {
        let content = TestContent(["a", "b"], finished: true)
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send("GET / HTTP/1.0\r\n\r\n")
        let head = try client.readHead()
        #expect(head.header("Transfer-Encoding") == nil)
        #expect(head.header("Connection") == "close")
        #expect(try client.readToEnd() == Array("ab".utf8))
        #expect(content.framing == .bare)
    }

    @Test func headRequestOpensNothing() throws {
        let content = TestContent(["abc"])
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = try client.readHead()
        #expect(head.header("Content-Type") == "text/event-stream")
        #expect(client.isClosedByServer())
        #expect(content.waitForEnd() == .neverOpened)
    }

    /// The system reports the end of a client that acknowledges nothing; without a limit after about 15 minutes.
    @Test(arguments: [(100, 1_100), (30_000, 31_000), (1 << 50, 1_000_001_000)])
    func peerThatVanishesIsNoticed(timeout: Int, limit: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        StreamWriter.limitSilence(of: descriptor, to: .milliseconds(timeout))
        var (value, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        #expect(getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &length) == 0)
        #expect(Int(value) == limit)
    }

    @Test func peerThatLeavesIsNoticedAtOnce() throws {
        let contents = [TestContent(["1"]), TestContent(["1"])]
        let server = try TestServer.streaming { contents[$0.rawPath == "/0" ? 0 : 1] }
        do {
            let client = try server.client()
            try client.send("GET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
        }
        #expect(contents[0].waitForEnd() == .peerClosed)
        let client = try server.client()
        try client.send(Self.request)
        _ = try client.readHead()
        client.shutdownWriting()
        #expect(contents[1].waitForEnd() == .peerClosed)
    }

    @Test func bytesFromTheClientOfAStreamAreIgnored() throws {
        let content = TestContent(["1"])
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send(Self.request + Self.request)
        _ = try client.readHead()
        try client.send(String(repeating: "x", count: 200_000))
        _ = try client.readChunk()
        content.push("2")
        #expect(try client.readChunk() == Array("2".utf8))
        content.finish()
        #expect(try client.readChunk() == nil)
        #expect(content.waitForEnd() == .finished)
        #expect(server.daemon.figures.requests == 1)
    }

    @Test func blockedReaderGetsEveryByteOnceItReads() throws {
        let content = TestContent()
        let server = try TestServer.streaming { $0.rawPath == "/stream" ? content : TestContent(finished: true) }
        let client = try server.client(receiveBuffer: 4096)
        try client.send(Self.request)
        _ = try client.readHead()
        let payloads = (0..<200).map { number in [UInt8](repeating: UInt8(number), count: 40_000 + number) }
        for payload in payloads.prefix(100) { content.push(payload) }
        // Another stream, from beginning to end, shows that the loop has visited the blocked one.
        let other = try server.client()
        try other.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try other.readToEnd()
        // The figures are made at the end of a pass; this answer comes in a later one.
        _ = try server.client().exchange("HEAD /other HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(server.daemon.figures.blockedStreams == 1)
        for payload in payloads.dropFirst(100) { content.push(payload) }
        for payload in payloads { #expect(try client.readChunk() == payload) }
        content.finish()
        #expect(try client.readChunk() == nil)
        #expect(content.waitForEnd() == .finished)
    }

    @Test func readerThatStaysBlockedIsCutOff() throws {
        let content = TestContent([String(repeating: "x", count: 4_000_000)])
        var configuration = DaemonConfiguration()
        configuration.blockedStreamTimeout = .milliseconds(100)
        let server = try TestServer.streaming(configuration) { $0.rawPath == "/stream" ? content : TestContent() }
        let client = try server.client(receiveBuffer: 4096)
        try client.send(Self.request)
        #expect(content.waitForEnd() == .blockedTooLong)
        // The figures are made at the end of a pass; this answer comes in a later one.
        _ = try server.client().exchange("HEAD /other HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(server.daemon.figures.blockedStreams == 0)
    }

    @Test func deadlineBringsAVisit() throws {
        let content = TestContent(heartbeat: (.milliseconds(20), ":beat"))
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send(Self.request)
        _ = try client.readHead()
        for _ in 0..<5 { #expect(try client.readChunk() == Array(":beat".utf8)) }
    }

    @Test func streamWithoutAnythingDueIsNotVisited() throws {
        let busy = TestContent()
        let quiet = TestContent()
        let server = try TestServer.streaming { $0.rawPath == "/quiet" ? quiet : busy }
        let (first, second) = (try server.client(), try server.client())
        try first.send("GET /quiet HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try first.readHead()
        try second.send(Self.request)
        _ = try second.readHead()
        for number in 0..<50 {
            busy.push("\(number)")
            _ = try second.readChunk()
        }
        #expect(quiet.fills == 1)
    }

    @Test func lateAnswerCanBeAStream() throws {
        let content = TestContent(["1"])
        let server = try TestServer(
            handler: TestHandler { _, responder in
                DispatchQueue.global().async { responder.stream([], content.admitted) }
                return .wait
            }
        )
        let client = try server.client()
        try client.send(Self.request)
        #expect(try client.readHead().status == 200)
        #expect(try client.readChunk() == Array("1".utf8))
        content.finish()
        #expect(try client.readChunk() == nil)
    }

    @Test func streamMayFollowOrdinaryRequestsOnItsConnection() throws {
        let server = try TestServer(
            handler: TestHandler { request, _ in
                request.rawPath == "/stream"
                    ? .stream([], TestContent(["1"], finished: true).admitted)
                    : .respond(HTTPResponse(status: 200, body: .bytes([1])))
            }
        )
        let client = try server.client()
        #expect(try client.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
        try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + Self.request)
        #expect(try client.readResponse().status == 200)
        _ = try client.readHead()
        #expect(try client.readChunk() == Array("1".utf8))
        #expect(try client.readChunk() == nil)
        #expect(client.isClosedByServer())
    }

    @Test func manyStreamsGetTheSameSharedBytes() throws {
        let contents = (0..<500).map { _ in TestContent() }
        let server = try TestServer.streaming { contents[Int($0.rawPath.dropFirst()) ?? 0] }
        let clients = try contents.indices.map { number in
            let client = try server.client()
            try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            return client
        }
        for client in clients { _ = try client.readHead() }
        for round in 0..<5 {
            for content in contents { content.push("round \(round)") }
            for client in clients { #expect(try client.readChunk() == Array("round \(round)".utf8)) }
        }
        #expect(server.daemon.figures.streams == 500)
        for content in contents { content.finish() }
        for client in clients { #expect(try client.readChunk() == nil) }
    }
}
