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

    @Test func streamIsSentChunkedByTheLibraryUntilItsEnd() throws {
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
        #expect(content.framing == .bare)
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
