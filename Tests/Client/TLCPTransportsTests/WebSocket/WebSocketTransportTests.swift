internal import NIOCore
internal import NIOEmbedded
internal import NIOWebSocket
internal import Testing

@testable internal import TLCPTransports

@Suite struct WebSocketTransportTests {
    /// Runs a script for one WebSocket and the body against it.
    private func withSocket(
        host: String = "127.0.0.1",
        _ settings: SocketSettings = .forTests(),
        script: @escaping @Sendable (Peer) async throws -> Void,
        _ body: (Opened) async throws -> Void
    ) async throws {
        try await ScriptedServer.run(host: host, script: { _, peer in try await script(peer) }) { server in
            let connector = try SocketConnector(settings)
            try await body(Opened(connector, .to(server.port, .webSocket, host: host)))
            await connector.shutDown()
        }
    }

    @Test func handshakeNamesTheSubprotocolAndMessagesAreMasked() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await withSocket { peer in
            record.yield(try await peer.acceptWebSocket())
            let frame = try await peer.frame()
            try await peer.send(Peer.frame(1, Array("echo:".utf8) + frame.payload + Array("\r\n".utf8)))
            try await peer.closed()
        } _: { opened in
            #expect(await opened.next() == .opened)
            opened.transport.send(Array("wsok".utf8))
            #expect(await opened.lines() == ["echo:wsok"])
            opened.transport.close()
            let request = await requests.first { _ in true }
            #expect(request?.line == "GET /lightstreamer HTTP/1.1")
            #expect(request?.headers["sec-websocket-protocol"] == "TLCP-2.5.0.lightstreamer.com")
            #expect(request?.headers["sec-websocket-version"] == "13")
            #expect(request?.headers["sec-websocket-extensions"] == nil)
        }
    }

    @Test func framesThatComeWithTheHandshakeAreNotLost() async throws {
        try await withSocket { peer in
            try await peer.acceptWebSocket(
                then: Peer.frame(1, "WSOK\r\nCONOK,S\r\n".utf8) + Peer.frame(1, "PROBE\r\n".utf8)
            )
            try await peer.closed()
        } _: { opened in
            var lines: [String] = []
            while lines.count < 3 { lines += await opened.lines() }
            #expect(lines == ["WSOK", "CONOK,S", "PROBE"])
            opened.transport.close()
        }
    }

    @Test func fragmentsMakeOneMessageAndItsEndIsTheEndOfALine() async throws {
        try await withSocket { peer in
            try await peer.acceptWebSocket()
            try await peer.send(Peer.frame(1, "U,1,".utf8, isFinal: false))
            try await peer.send(Peer.frame(9, "hey".utf8))
            try await peer.send(Peer.frame(0, "1,a\r".utf8, isFinal: false) + Peer.frame(0, "\nLOOP,0".utf8))
            try await peer.send(Peer.frame(1, "END\r\n".utf8))
            let pong = try await peer.frame()
            try await peer.send(Peer.frame(1, Array("\(pong.opcode):".utf8) + pong.payload))
            try await peer.send(Peer.frame(8, [0x03, 0xE8]))
            let close = try await peer.frame()
            try await peer.send("\(close)")
        } _: { opened in
            let (lines, end) = await opened.rest()
            #expect(lines == ["U,1,1,a", "LOOP,0", "END", "10:hey"])
            #expect(end == .completed)
        }
    }

    /// The server sends the rest of the frame once the client has reported its beginning.
    @Test(.timeLimit(.minutes(1))) func bytesOfAnIncompleteFrameAreReported() async throws {
        let frame = Peer.frame(1, "U,1,1,value\r\n".utf8)
        try await withSocket { peer in
            try await peer.acceptWebSocket()
            try await peer.send(Array(frame.prefix(5)))
            _ = try await peer.frame()
            try await peer.send(Array(frame.dropFirst(5)))
            try await peer.closed()
        } _: { opened in
            #expect(await opened.next() == .opened)
            #expect(await opened.next() == .received(LineBatch(lines: [], byteCount: 5)))
            opened.transport.send(Array("go".utf8))
            let line = Array("U,1,1,value".utf8)[...]
            #expect(await opened.next() == .received(LineBatch(lines: [line], byteCount: 8)))
            opened.transport.close()
        }
    }

    @Test(.timeLimit(.minutes(1))) func aServerThatDoesNotReadIsReportedUntilItReads() async throws {
        let (reads, read) = AsyncStream<Void>.makeStream()
        try await withSocket { peer in
            try await peer.acceptWebSocket()
            _ = await reads.first { true }
            try await peer.closed()
        } _: { opened in
            #expect(await opened.next() == .opened)
            opened.transport.send([UInt8](repeating: 0x78, count: 32 << 20))
            #expect(await opened.next() == .writable(false))
            read.yield()
            #expect(await opened.next() == .writable(true))
            opened.transport.close()
        }
    }

    @Test func closingSendsWhatWasSentBeforeAndAClosingFrame() async throws {
        let (frames, record) = AsyncStream<[UInt8]>.makeStream()
        try await withSocket { peer in
            try await peer.acceptWebSocket()
            for _ in 1...2 {
                let frame = try await peer.frame()
                record.yield([frame.opcode] + frame.payload)
            }
            record.finish()
        } _: { opened in
            #expect(await opened.next() == .opened)
            opened.transport.send(Array("destroy".utf8))
            opened.transport.close()
            var all: [[UInt8]] = []
            for await frame in frames { all.append(frame) }
            #expect(all == [[1] + Array("destroy".utf8), [8, 0x03, 0xE8]])
        }
    }

    @Test func socketThatIsClosedWithoutNoticeHasFailed() async throws {
        try await withSocket { peer in
            try await peer.acceptWebSocket(then: Peer.frame(1, "WSOK\r\n".utf8))
        } _: { opened in
            let (lines, end) = await opened.rest()
            #expect(lines == ["WSOK"])
            #expect(end == .failed(reason: "the WebSocket was closed without a close frame", kind: .closed))
        }
    }

    @Test(arguments: [
        Peer.frame(2, [1, 2, 3]), Peer.frame(0, [65]), Peer.frame(3, []), [0xC1, 0x01, 0x41],
        [0x81, 0x81, 0, 0, 0, 0, 65],
        [0x89, 0x7E, 0x00, 0x80],
    ])
    func framesThatBreakTheRulesEndTheConnection(frame: [UInt8]) async throws {
        try await withSocket { peer in
            try await peer.acceptWebSocket(then: frame)
            try await peer.closed()
        } _: { opened in
            let (lines, end) = await opened.rest()
            #expect(lines.isEmpty)
            guard case .failed(_, .notLightstreamer, nil) = end else { return #expect(end == .failed(reason: "any")) }
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", "garbage\r\n\r\n",
    ])
    func refusedHandshakeIsAFailure(answer: String) async throws {
        try await withSocket { peer in
            _ = try await peer.request()
            try await peer.send(answer)
            try await peer.closed()
        } _: { opened in
            guard case .failed = await opened.rest().end else { return #expect(Bool(false), "no failure") }
        }
    }

    @Test(.timeLimit(.minutes(1))) func handshakeMayTakeAsLongAsTheResponse() async throws {
        let (connections, connection) = AsyncStream<Void>.makeStream()
        let (answers, answer) = AsyncStream<Void>.makeStream()
        try await ScriptedServer.runWithConnector(
            { settings, _ in settings.connectTimeout = .milliseconds(50) },
            script: { number, peer in
                guard number == 1 else { return try await peer.closed() }
                connection.yield()
                _ = await answers.first { true }
                try await peer.acceptWebSocket()
                try await peer.closed()
            }
        ) { server, connector in
            var request = ConnectionRequest.to(server.port, .webSocket)
            request.responseTime = .seconds(60)
            let patient = Opened(connector, request)
            _ = await connections.first { true }
            // A connection that begins later, and whose time is over first.
            let end = await Opened(connector, .to(server.port, .webSocket)).next()
            guard case .closed(.failed(_, .timeout, _)) = end else { return #expect(end == nil) }
            answer.yield()
            #expect(await patient.next() == .opened)
        }
    }

    @Test func cookiesOfTheHandshakeAreKeptAndSent() async throws {
        let jar = CookieJar()
        jar.add([Cookie(name: "known", value: "1", domain: "127.0.0.1", isHostOnly: true)])
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await withSocket(SocketSettings(loops: .shared, cookies: jar)) { peer in
            let cookies = "Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/\r\n"
            record.yield(try await peer.acceptWebSocket(extra: cookies, then: Peer.frame(1, "WSOK\r\n".utf8)))
            try await peer.closed()
        } _: { opened in
            #expect(await opened.lines() == ["WSOK"])
            opened.transport.close()
            #expect(await requests.first { _ in true }?.headers["cookie"] == "known=1")
            let origin = CookieOrigin(host: "127.0.0.1", path: "/lightstreamer", isSecure: false)
            #expect(jar.header(for: origin) == "known=1; a=1; b=2")
        }
    }

    @Test func literalAddressesOfTheSixthVersionWork() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await withSocket(host: "::1") { peer in
            record.yield(try await peer.acceptWebSocket(then: Peer.frame(1, "WSOK\r\n".utf8)))
            try await peer.closed()
        } _: { opened in
            #expect(await opened.lines() == ["WSOK"])
            opened.transport.close()
            #expect(await requests.first { _ in true }?.headers["host"]?.hasPrefix("[::1]:") == true)
        }
    }

    @Test func pingsOfAServerThatDoesNotReadLeaveOnePongUnwritten() throws {
        let held = HeldWrites()
        let receiver = LineReceiver(maxLineLength: 100, window: 100) { _ in }
        let channel = EmbeddedChannel(handlers: [held, WebSocketClientHandler(nil, receiver)])
        func ping(_ text: String) throws {
            try channel.writeInbound(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer(string: text)))
        }
        for number in 1...1_000 { try ping("\(number)") }
        #expect(held.pongs == ["1"])
        held.release()
        #expect(held.pongs == ["1", "1000"])
        held.release()
        #expect(held.pongs == ["1", "1000"])
        try ping("again")
        held.release()
        #expect(held.pongs == ["1", "1000", "again"])
        _ = try channel.finish()
    }

    /// The response to the close frame waited for a server that did not read, with all that was unwritten, for ever.
    @Test func aServerThatClosesAndDoesNotReadLeavesNoConnection() throws {
        let receiver = LineReceiver(maxLineLength: 100, window: 100) { _ in }
        let channel = EmbeddedChannel(handlers: [HeldWrites(), WebSocketClientHandler(nil, receiver)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(WebSocketFrame(fin: true, opcode: .connectionClose, data: ByteBuffer()))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}

/// Keeps what is written unwritten until it is released, as a socket whose peer does not read.
private final class HeldWrites: ChannelOutboundHandler {
    typealias OutboundIn = WebSocketFrame

    private(set) var pongs: [String] = []
    private var promises: [EventLoopPromise<Void>] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = unwrapOutboundIn(data)
        if frame.opcode == .pong { pongs.append(String(buffer: frame.data)) }
        if let promise { promises.append(promise) }
    }

    func flush(context: ChannelHandlerContext) {}

    /// What has been written so far is on its way.
    func release() {
        let written = promises
        promises = []
        for promise in written { promise.succeed() }
    }
}
