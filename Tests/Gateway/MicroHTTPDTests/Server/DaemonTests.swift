internal import Glibc
internal import MicroHTTPD
internal import Synchronization
internal import Testing

/// Serialized, because some tests count the descriptors of the process.
@Suite(.serialized) struct DaemonTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func portInUseIsAnError() throws {
        let server = try TestServer()
        var configuration = DaemonConfiguration()
        configuration.port = server.port
        #expect(throws: DaemonError.cannotListen("Address already in use")) { _ = try TestServer(configuration) }
    }

    @Test(arguments: ["203.0.113.1", "no such host"])
    func foreignAddressIsAnError(host: String) {
        var configuration = DaemonConfiguration()
        configuration.host = host
        #expect(throws: DaemonError.badAddress(host)) { _ = try TestServer(configuration) }
    }

    @Test func unusableCertificateIsAnError() {
        var configuration = DaemonConfiguration()
        configuration.certificate = DaemonConfiguration.Certificate(chain: "x", key: "y")
        #expect(throws: DaemonError.startRefused) { _ = try TestServer(configuration) }
    }

    @Test func daemonIsClosedTwiceWithoutHarmAndStartsOnlyOnce() throws {
        let server = try TestServer()
        #expect(throws: DaemonError.notStartable) { _ = try server.daemon.start() }
        server.daemon.close()
        server.daemon.close()
        #expect(throws: DaemonError.notStartable) { _ = try server.daemon.start() }
    }

    @Test func closingEndsStreamsAndAnswersWhatWaits() throws {
        let content = TestContent(["1"])
        let kept = Mutex<[HTTPResponder]>([])
        let server = try TestServer(
            handler: TestHandler { request, responder in
                if request.rawPath == "/stream" { return .stream([], content.admitted) }
                kept.withLock { $0.append(responder) }
                return .wait
            }
        )
        let (streaming, waiting) = (try server.client(), try server.client())
        try streaming.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try streaming.readHead()
        _ = try streaming.readChunk()
        try waiting.send(Self.request + Self.request)
        try streaming.send("x")
        while kept.withLock({ $0.isEmpty }) { content.push("2"); _ = try streaming.readChunk() }
        server.daemon.close()
        #expect(content.waitForEnd() == .daemonClosed)
        let refused = try waiting.readResponse()
        #expect(refused.status == 503 && refused.text == #"{"code":"closing"}"#)
        #expect(waiting.isClosedByServer())
        while let chunk = try streaming.readChunk() { #expect(chunk == [0x32]) }
        kept.withLock { $0 }.forEach { $0.respond(HTTPResponse(status: 200)) }
    }

    @Test(arguments: [false, true])
    func departureOfAWaitingClientIsDetected(isSecure: Bool) async throws {
        var configuration = DaemonConfiguration()
        if isSecure { configuration.certificate = try TestCertificate().certificate }
        let kept = Mutex<[HTTPResponder]>([])
        let (asked, signal) = AsyncStream.makeStream(of: Void.self)
        let (left, leaving) = AsyncStream.makeStream(of: Void.self)
        let server = try TestServer(
            configuration,
            handler: TestHandler { _, responder in
                kept.withLock { $0.append(responder) }
                responder.onAbandonment { leaving.yield() }
                signal.yield()
                return .wait
            }
        )
        var questions = asked.makeAsyncIterator()
        var departures = left.makeAsyncIterator()
        if isSecure {
            let client = try SecureClient(port: server.port)
            client.send(Self.request)
            await questions.next()
            client.end()
        } else {
            let client = try server.client()
            try client.send(Self.request)
            await questions.next()
        }
        await departures.next()
        // The request has ended without a response.
        #expect(await server.daemon.drain(within: .seconds(10)))
        kept.withLock { $0 }.forEach { $0.respond(HTTPResponse(status: 200)) }
    }

    /// The descriptor of a connection stays watched after its first request that waited.
    @Test(arguments: [false, true], [false, true])
    func departureAfterAnEarlierRequestHasWaitedIsDetected(isSecure: Bool, opensStream: Bool) async throws {
        var configuration = DaemonConfiguration()
        if isSecure { configuration.certificate = try TestCertificate().certificate }
        let content = TestContent(["event"])
        let kept = Mutex<[HTTPResponder]>([])
        let (asked, signal) = AsyncStream.makeStream(of: Void.self)
        let (left, leaving) = AsyncStream.makeStream(of: Void.self)
        let server = try TestServer(
            configuration,
            handler: TestHandler { request, responder in
                if request.rawPath == "/first" {
                    responder.respond(HTTPResponse(status: 200, body: .bytes(Array("first".utf8))))
                    return .wait
                }
                signal.yield()
                if opensStream { return .stream([], content.admitted) }
                kept.withLock { $0.append(responder) }
                responder.onAbandonment { leaving.yield() }
                return .wait
            }
        )
        var questions = asked.makeAsyncIterator()
        let first = "GET /first HTTP/1.1\r\nHost: x\r\n\r\n"
        if isSecure {
            let client = try SecureClient(port: server.port)
            client.send(first)
            _ = try client.read(through: "first")
            client.send(Self.request)
            await questions.next()
            if opensStream { _ = try client.read(through: "event") }
            client.end()
        } else {
            let client = try server.client()
            #expect(try client.exchange(first).text == "first")
            try client.send(Self.request)
            await questions.next()
            if opensStream { _ = try client.read(through: "event") }
        }
        if opensStream {
            #expect(content.waitForEnd() == .peerClosed)
        } else {
            var departures = left.makeAsyncIterator()
            await departures.next()
        }
        kept.withLock { $0 }.forEach { $0.respond(HTTPResponse(status: 200)) }
    }

    @Test func lateStreamAfterTheEndEndsAsNeverOpened() throws {
        let kept = Mutex<HTTPResponder?>(nil)
        let server = try TestServer(
            handler: TestHandler { request, responder in
                if request.rawPath == "/" { kept.withLock { $0 = responder } }
                return request.rawPath == "/" ? .wait : .respond(HTTPResponse(status: 200))
            }
        )
        let (waiting, other) = (try server.client(), try server.client())
        try waiting.send(Self.request)
        while kept.withLock({ $0 == nil }) { _ = try other.exchange("GET /x HTTP/1.1\r\nHost: x\r\n\r\n") }
        server.daemon.close()
        let content = TestContent()
        kept.withLock { $0 }?.stream([], content.admitted)
        #expect(content.waitForEnd() == .neverOpened)
    }

    @Test func drainingWaitsForStreams() async throws {
        let content = TestContent(["1"])
        let server = try TestServer.streaming { _ in content }
        let client = try server.client()
        try client.send(Self.request)
        _ = try client.readHead()
        server.daemon.stopAccepting()
        #expect(await server.daemon.drain(within: .milliseconds(20)) == false)
        #expect(throws: TestClient.Failure.self) { _ = try server.client() }
        content.finish()
        #expect(await server.daemon.drain(within: .seconds(10)))
    }

    @Test func windingDownClosesKeptConnections() async throws {
        let server = try TestServer()
        let client = try server.client()
        #expect(try client.exchange(Self.request).header("Connection") == nil)
        server.daemon.stopAccepting()
        #expect(await server.daemon.drain(within: .seconds(10)))
        #expect(try client.exchange(Self.request).header("Connection") == "close")
        #expect(client.isClosedByServer())
    }

    @Test func shardsServeOnOnePortEachWithItsOwnStreams() throws {
        var configuration = DaemonConfiguration()
        configuration.shards = 3
        let contents = (0..<60).map { _ in TestContent(["1"]) }
        let server = try TestServer.streaming(configuration) { contents[Int($0.rawPath.dropFirst()) ?? 0] }
        #expect(server.daemon.loops.count == 3)
        let clients = try contents.indices.map { number in
            let client = try server.client()
            try client.send("GET /\(number) HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.readHead()
            return client
        }
        for content in contents { content.push("2") }
        for client in clients {
            #expect(try client.readChunk() == [0x31])
            #expect(try client.readChunk() == [0x32])
        }
    }

    @Test func thousandStreamsLeaveNoDescriptorAndNoObjectBehind() throws {
        let contents = Mutex<[TestContent]>([])
        let server = try TestServer.streaming { _ in
            let content = TestContent(["1"])
            contents.withLock { $0.append(content) }
            return content
        }
        let before = Self.descriptors()
        for round in 0..<10 {
            let clients = try (0..<100).map { _ in try server.client() }
            for client in clients { try client.send(Self.request) }
            for client in clients { _ = try client.readHead() }
            let opened = contents.withLock { $0 }
            if round % 2 == 0 {
                for content in opened { content.finish() }
                for client in clients { while try client.readMore() {} }
            }
            withExtendedLifetime(clients) {}
            contents.withLock { $0 = [] }
            #expect(opened.count == 100)
            if round % 2 == 0 { for content in opened { #expect(content.waitForEnd() == .finished) } }
        }
        // The response to HEAD closes the connection, and streams that are over leave at their turn.
        repeat {
            _ = try server.client().exchange("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        } while server.daemon.figures.connections > 1
        #expect(server.daemon.figures.acceptedConnections >= 1001)
        #expect(Self.descriptors() <= before + 2)
    }

    @Test func theSameCertificateAgainLeavesNoDescriptorBehind() async throws {
        var configuration = DaemonConfiguration()
        let certificate = try TestCertificate().certificate
        configuration.certificate = certificate
        let content = TestContent(["event"])
        let server = try TestServer.streaming(configuration) { _ in content }
        let client = try SecureClient(port: server.port)
        client.send(Self.request)
        _ = try client.read(through: "event")
        let before = Self.descriptors()
        for _ in 0..<20 { try await server.daemon.replaceCertificate(certificate) }
        #expect(Self.descriptors() <= before + 2)
        content.push("another")
        _ = try client.read(through: "another")
    }

    /// The approximate number of open descriptors of this process.
    private static func descriptors() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
