internal import Glibc
internal import Primitives
internal import Testing

@testable internal import MicroHTTPD

/// Connections on which the library asks for runs in which it does nothing.
@Suite struct LibraryRetryTests {
    /// A server that responds with more than the buffers between server and client hold.
    private static func server() throws -> TestServer {
        var configuration = DaemonConfiguration()
        configuration.certificate = try TestCertificate().certificate
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: 16 << 20)
        return try TestServer(
            configuration,
            handler: TestHandler { request, _ in
                let length = request.body.count
                return .respond(
                    HTTPResponse(status: 200, body: .bytes(length == 0 ? body : Array("received \(length)".utf8)))
                )
            }
        )
    }

    @Test func aHandshakeThatStallsBesideAnUnreadResponseDoesNotKeepTheLoopBusy() throws {
        let server = try Self.server()
        let reader = try SecureClient(port: server.port)
        reader.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try reader.read(through: "\r\n\r\n")
        // The beginning of a record with a handshake.
        let stalled = try server.client()
        try stalled.send([0x16, 0x03, 0x01])
        let loop = try #require(server.daemon.loops.first)
        let (start, rounds) = (Moment.monotonic(), loop.rounds)
        // One round each millisecond, after a hundred in a row.
        while loop.rounds - rounds < 3_000, Moment.monotonic() - start < .seconds(1) { sched_yield() }
        #expect(loop.rounds - rounds < 3_000)
        withExtendedLifetime(stalled) {}
    }

    @Test func aStalledHandshakeLeavesTheLoopAlone() throws {
        let server = try Self.server()
        let stalled = try server.client()
        try stalled.send([0x16, 0x03, 0x01])
        let loop = try #require(server.daemon.loops.first)
        let (start, rounds) = (Moment.monotonic(), loop.rounds)
        // A hundred in a row, then a few each second.
        while loop.rounds - rounds < 500, Moment.monotonic() - start < .seconds(1) { sched_yield() }
        #expect(loop.rounds - rounds < 500)
        // Others are served at once, and keep their pace.
        let reader = try SecureClient(port: server.port)
        reader.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reader.readToEnd().utf8.count > 16 << 20)
        withExtendedLifetime(stalled) {}
    }

    @Test func largeResponsesDoNotCutOffAPausedChunkedBody() throws {
        let server = try Self.server()
        let sender = try SecureClient(port: server.port)
        sender.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        func download() throws {
            let reader = try SecureClient(port: server.port)
            reader.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(reader.readToEnd().utf8.count > 16 << 20)
        }
        try download()
        // Longer than the pause for which a body is cut off when it is the cause of retries.
        let start = Moment.monotonic()
        while Moment.monotonic() - start < .milliseconds(1_500) { try download() }
        sender.send("0\r\n\r\n")
        _ = try sender.read(through: "received 3")
    }

    @Test func responsesToOthersDoNotKeepAChunkLineBeyondAllMemory() throws {
        let server = try TestServer()
        let (client, other) = (try server.client(), try server.client())
        let line = "1;a" + String(repeating: "0", count: 100_000)
        try? client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(line)")
        var question = pollfd(fd: client.descriptor, events: Int16(POLLIN), revents: 0)
        let start = Moment.monotonic()
        // Long before the request timeout.
        while poll(&question, 1, 0) == 0, Moment.monotonic() - start < .seconds(10) {
            #expect(try other.exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
        }
        #expect(poll(&question, 1, 0) == 1)
    }
}
