internal import MicroHTTPD
internal import Testing

@Suite struct SecureStreamTests {
    private static let request = "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"

    private static func server(
        _ change: (inout DaemonConfiguration) -> Void = { _ in },
        _ content: @escaping @Sendable (HTTPRequest) -> TestContent
    ) throws -> TestServer {
        var configuration = DaemonConfiguration()
        configuration.certificate = try TestCertificate().certificate
        change(&configuration)
        return try TestServer.streaming(configuration, content)
    }

    @Test func streamIsSentInChunksUntilItsEnd() throws {
        let content = TestContent(["data: 0\n\n"])
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        let head = try client.read(through: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(head.contains("Transfer-Encoding: chunked"))
        #expect(head.contains("Connection: close"))
        #expect(try client.read(through: "data: 0\n\n").hasSuffix("9\r\ndata: 0\n\n"))
        for number in 1..<50 {
            content.push("data: \(number)\n\n")
            _ = try client.read(through: "data: \(number)\n\n")
        }
        content.push("last")
        content.finish()
        #expect(client.readToEnd() == "\r\n4\r\nlast\r\n0\r\n\r\n")
        #expect(content.waitForEnd() == .finished)
        #expect(content.framing == .chunked)
    }

    @Test func longPayloadIsSentWhole() throws {
        let content = TestContent()
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send("GET / HTTP/1.0\r\n\r\n")
        _ = try client.read(through: "\r\n\r\n")
        let payload = String((0..<100_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
        content.push(payload)
        content.push(payload)
        content.finish()
        #expect(client.readToEnd() == payload + payload)
        #expect(content.waitForEnd() == .finished)
    }

    @Test func blockedReaderGetsEveryByteOnceItReads() throws {
        let content = TestContent()
        let server = try Self.server { $0.rawPath == "/stream" ? content : TestContent(finished: true) }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        _ = try client.read(through: "\r\n\r\n")
        let payloads = (0..<200).map { [UInt8](repeating: UInt8(ascii: "a") + UInt8($0 % 26), count: 40_000 + $0) }
        for payload in payloads.prefix(100) { content.push(payload) }
        // Another stream, from beginning to end, shows that the loop has visited the blocked one. Its client, another process,
        // takes some of the bytes whenever it runs, so it may be blocked more than once.
        let other = try SecureClient(port: server.port)
        other.send("GET /other HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(other.readToEnd().hasSuffix("0\r\n\r\n"))
        #expect(content.blocks > 0)
        for payload in payloads.dropFirst(100) { content.push(payload) }
        content.finish()
        let expected = payloads.flatMap { chunk($0) } + Array("0\r\n\r\n".utf8)
        #expect(client.readToEnd() == String(decoding: expected, as: UTF8.self))
        #expect(content.waitForEnd() == .finished)
    }

    @Test func sharedBytesReachAllStreams() throws {
        let contents = (0..<4).map { _ in TestContent() }
        let server = try Self.server { contents[Int($0.rawPath.dropFirst()) ?? 0] }
        let clients = try contents.indices.map { number in
            let client = try SecureClient(port: server.port)
            client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.read(through: "\r\n\r\n")
            return client
        }
        let streams = try contents.map { try #require($0.stream) }
        // The second is more than a record, and too much for a client that does not read.
        let payloads = [Array("first".utf8), [UInt8](repeating: UInt8(ascii: "x"), count: 4_000_000)]
        for bytes in payloads {
            streams[0].feed.share(chunk(bytes), to: streams.map(\.id))
            streams[0].feed.wake()
        }
        contents.forEach { $0.finish() }
        for (client, content) in zip(clients, contents) {
            let expected = payloads.flatMap { chunk($0) } + Array("0\r\n\r\n".utf8)
            #expect(client.readToEnd() == String(decoding: expected, as: UTF8.self))
            #expect(content.waitForEnd() == .finished)
        }
    }

    /// The library leaves the socket of an encrypted connection corked behind a response. A corked socket sends a short
    /// event 200 ms late, and these events then take longer than the limit.
    @Test(.timeLimit(.minutes(1))) func eventsAreSentAtOnceAfterAnotherResponseOnTheConnection() throws {
        let content = TestContent()
        var configuration = DaemonConfiguration()
        configuration.certificate = try TestCertificate().certificate
        let handler = TestHandler { request, _ in
            request.rawPath == "/stream"
                ? .stream([], content.admitted)
                : .respond(HTTPResponse(status: 200, body: .bytes(Array("short".utf8))))
        }
        let server = try TestServer(configuration, handler: handler)
        let client = try SecureClient(port: server.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.read(through: "short")
        client.send(Self.request)
        _ = try client.read(through: "\r\n\r\n")
        for number in 0..<500 {
            content.push("event \(number).")
            _ = try client.read(through: "event \(number).")
        }
    }

    @Test func newKeysAreUsedWhenTheClientAsksForThem() throws {
        let content = TestContent()
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port, verbose: true, options: ["-msg"])
        client.send(Self.request)
        _ = try client.read(through: "HTTP/1.1 200 OK")
        // A command of the program: it renews its own keys, and asks the server to do the same.
        client.send("K\n")
        _ = try client.read(through: ">>> TLS 1.3, Handshake [length 0005], KeyUpdate")
        let hasAnswered = try (0..<1000).contains { number in
            content.push("event \(number).")
            return try client.read(through: "event \(number).").contains(
                "<<< TLS 1.3, Handshake [length 0005], KeyUpdate"
            )
        }
        #expect(hasAnswered)
        content.push("with new keys")
        _ = try client.read(through: "with new keys")
    }

    @Test func bytesFromTheClientOfAStreamAreIgnored() throws {
        let content = TestContent(["1"])
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request + Self.request)
        _ = try client.read(through: "\r\n\r\n1\r\n1")
        client.send(String(repeating: "x", count: 200_000))
        content.push("2")
        _ = try client.read(through: "1\r\n2")
        content.finish()
        #expect(client.readToEnd() == "\r\n0\r\n\r\n")
        #expect(content.waitForEnd() == .finished)
        #expect(server.daemon.figures.requests == 1)
    }

    @Test func peerThatLeavesIsNoticedAtOnce() throws {
        let content = TestContent(["1"])
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        _ = try client.read(through: "\r\n\r\n1\r\n1")
        client.end()
        #expect(content.waitForEnd() == .peerClosed)
    }

    @Test func deadlineBringsAVisit() throws {
        let content = TestContent(heartbeat: (.milliseconds(20), ":beat\n"))
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        for _ in 0..<5 { _ = try client.read(through: ":beat\n") }
    }

    @Test func openStreamsEndWithTheDaemon() throws {
        let content = TestContent(["1"])
        let server = try Self.server { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        _ = try client.read(through: "\r\n\r\n1\r\n1")
        server.daemon.close()
        #expect(content.waitForEnd() == .daemonClosed)
        #expect(client.readToEnd().hasSuffix("0\r\n\r\n"))
    }

    @Test func readerThatStaysBlockedIsCutOff() throws {
        let content = TestContent([String(repeating: "x", count: 4_000_000)])
        let server = try Self.server({ $0.blockedStreamTimeout = .milliseconds(300) }) { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        #expect(content.waitForEnd() == .blockedTooLong)
    }

    @Test func newCertificateIsUsedForNewConnectionsAndOldStreamsGoOn() async throws {
        let content = TestContent(["1"])
        let server = try Self.server { _ in content }
        let old = try SecureClient(port: server.port)
        old.send(Self.request)
        _ = try old.read(through: "\r\n\r\n1\r\n1")
        try await server.daemon.replaceCertificate(TestCertificate(commonName: "changed.test").certificate)
        let new = try SecureClient(port: server.port, verbose: true)
        _ = try new.read(through: "changed.test")
        content.push("second")
        _ = try old.read(through: "second")
    }

    @Test func badCertificateIsRefusedAndTheOldOneStays() async throws {
        let server = try Self.server { _ in TestContent(["1"]) }
        let bad = DaemonConfiguration.Certificate(chain: "none", key: "none")
        await #expect(throws: DaemonError.startRefused) { try await server.daemon.replaceCertificate(bad) }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        _ = try client.read(through: "200 OK")
    }
}
