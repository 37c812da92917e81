internal import Primitives
internal import TLCP
internal import Testing

@testable internal import TLCPTransports

@Suite struct HTTPTransportTests {
    @Test func requestIsAPostWithBodyAndHeadersOfTheOrder() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await ScriptedServer.runWithConnector { _, peer in
            record.yield(try await peer.request())
            try await peer.respond("200 OK", body: "CONOK,S1,50000,5000,*\r\n")
        } _: { server, connector in
            var order = ConnectionRequest.to(server.port, body: "LS_cid=a%20b")
            order.headers = ["X-Extra": "1"]
            let opened = Opened(connector, order)
            #expect(await opened.next() == .opened)
            let (lines, end) = await opened.rest()
            #expect(lines == ["CONOK,S1,50000,5000,*"])
            #expect(end == .completed)
            let request = await requests.first { _ in true }
            #expect(request?.line == "POST /lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1")
            #expect(request?.headers["host"] == "127.0.0.1:\(server.port)")
            #expect(request?.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(request?.headers["x-extra"] == "1")
            #expect(request?.body == "LS_cid=a%20b")
        }
    }

    @Test func chunkedStreamIsCutIntoLinesWhereverChunksEnd() async throws {
        try await ScriptedServer.runWithConnector { _, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for piece in ["CON", "OK,S1\r", "\nU,1,1,\u{E9}", "|b\r\nPRO", "BE\r\nunfinished"] {
                try await peer.send(String(piece.utf8.count, radix: 16) + "\r\n" + piece + "\r\n")
            }
            try await peer.send("0\r\n\r\n")
        } _: { server, connector in
            let (lines, end) = await Opened(connector, .to(server.port, .httpStream)).rest()
            #expect(lines == ["CONOK,S1", "U,1,1,\u{E9}|b", "PROBE"])
            #expect(end == .completed)
        }
    }

    @Test(arguments: [
        ("404 Not Found", FailureKind.notFound), ("503 Service Unavailable", .httpStatus), ("302 Found", .httpStatus),
        ("403 Forbidden", .unauthorized),
    ])
    func statusOutsideTheTwoHundredsIsAFailure(status: String, kind: FailureKind) async throws {
        try await ScriptedServer.runWithConnector { _, peer in
            _ = try await peer.request()
            try await peer.respond(status, headers: "Location: http://127.0.0.1:1/\r\n", body: "no\r\n")
        } _: { server, connector in
            let (lines, end) = await Opened(connector, .to(server.port)).rest()
            #expect(lines.isEmpty)
            let code = Int(status.prefix(3))
            #expect(end == .refused(reason: "HTTP status \(status.prefix(3))", kind: kind, status: code))
        }
    }

    @Test(arguments: ["Transfer-Encoding: chunked\r\n\r\n7\r\nPROBE\r\n\r\n", "Content-Length: 20\r\n\r\nPROBE\r\n"])
    func truncatedStreamIsAFailureAfterItsLines(response: String) async throws {
        try await ScriptedServer.runWithConnector { _, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\r\n" + response)
        } _: { server, connector in
            let (lines, end) = await Opened(connector, .to(server.port, .httpStream)).rest()
            #expect(lines == ["PROBE"])
            #expect(end == .failed(reason: "closed early: response", kind: .closed))
        }
    }

    @Test func refusedConnectionIsAFailure() async throws {
        let port = try await ScriptedServer.run(script: { _, _ in }) { $0.port }
        let connector = try SocketConnector(.forTests())
        let (_, end) = await Opened(connector, .to(port)).rest()
        #expect(end == .unreachable(reason: "cannot connect to 127.0.0.1, port \(port)", kind: .refused))
        await connector.shutDown()
    }

    @Test func controlRequestsShareAConnectionThatIsKeptAlive() async throws {
        try await ScriptedServer.runWithConnector { number, peer in
            while true {
                let request = try await peer.request()
                try await peer.respond("200 OK", body: "REQOK,\(number).\(request.body)\r\n")
            }
        } _: { server, connector in
            let first = await Opened(connector, .to(server.port, .httpControl, body: "a")).rest()
            let second = await Opened(connector, .to(server.port, .httpControl, body: "b")).rest()
            let stream = await Opened(connector, .to(server.port, .httpPoll, body: "c")).rest()
            #expect(first.lines + second.lines + stream.lines == ["REQOK,1.a", "REQOK,1.b", "REQOK,2.c"])
        }
    }

    @Test(arguments: [TransportKind.httpStream, .httpPoll, .httpControl])
    func requestIsNotRepeatedIfItsReusedConnectionBreaks(kind: TransportKind) async throws {
        let (requests, record) = AsyncStream<String>.makeStream()
        try await ScriptedServer.runWithConnector { number, peer in
            record.yield(try await peer.request().body)
            try await peer.respond("200 OK", body: "REQOK,\(number)\r\n")
            // The second request on the first connection is read, and the connection closed without a response.
            if number == 1 { record.yield(try await peer.request().body) } else { try await peer.closed() }
        } _: { server, connector in
            let first = await Opened(connector, .to(server.port, kind, body: "a")).rest()
            let second = await Opened(connector, .to(server.port, kind, body: "b")).rest()
            let third = await Opened(connector, .to(server.port, kind, body: "c")).rest()
            #expect(first.lines == ["REQOK,1"])
            #expect(second.lines.isEmpty)
            #expect(second.end == .failed(reason: "closed early: connection", kind: .closed))
            #expect(third.lines == ["REQOK,2"])
            record.finish()
        }
        #expect(await requests.all() == ["a", "b", "c"])
    }

    @Test func releasedResponseGivesItsConnectionBack() async throws {
        try await ScriptedServer.runWithConnector { number, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nLOOP,0\r\n")
            try await peer.send("padding!")
            _ = try await peer.request()
            try await peer.respond("200 OK", body: "second on \(number)\r\n")
        } _: { server, connector in
            let first = Opened(connector, .to(server.port))
            #expect(await first.lines() == ["LOOP,0"])
            first.transport.release()
            // Either the channel was idle again in time, or a second one was opened; both are correct, and
            // distinguished by the number. A failure is not.
            let second = Opened(connector, .to(server.port))
            #expect(await !second.lines().isEmpty)
            second.transport.close()
        }
    }

    @Test func readingStopsWhileTheWindowIsFull() async throws {
        let line = String(repeating: "x", count: 65_534)
        let total = 256
        let (progress, report) = AsyncStream<Int>.makeStream()
        try await ScriptedServer.runWithConnector({ settings, _ in settings.receiveWindow = 65_536 }) { _, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(total * 65_536)\r\n\r\n")
            for count in 1...total {
                try await peer.send(line + "\r\n")
                report.yield(count)
            }
            report.finish()
        } _: { server, connector in
            let opened = Opened(connector, .to(server.port, .httpStream), handling: false)
            var unhandled = 0
            var lines = 0
            while let event = await opened.next() {
                if case .closed(let end) = event { #expect(end == .completed) }
                guard case .received(let batch) = event else { continue }
                unhandled += batch.byteCount
                lines += batch.lines.count
                if unhandled >= 65_536 {
                    // One read beyond the window at most was under way.
                    #expect(unhandled < 65_536 + (1 << 20))
                    opened.transport.handled(unhandled)
                    unhandled = 0
                }
            }
            #expect(lines == total)
            var last = 0
            for await count in progress { last = count }
            #expect(last == total)
        }
    }

    @Test func lineBeyondTheBoundIsAFailure() async throws {
        try await ScriptedServer.runWithConnector({ settings, _ in settings.maxLineLength = 1_000 }) { _, peer in
            _ = try await peer.request()
            try await peer.respond("200 OK", body: String(repeating: "x", count: 2_000) + "\r\n")
        } _: { server, connector in
            let (lines, end) = await Opened(connector, .to(server.port)).rest()
            #expect(lines.isEmpty)
            guard case .failed(_, .notLightstreamer, nil) = end else { return #expect(end == .failed(reason: "any")) }
        }
    }

    @Test func closedConnectionDeliversNothingMore() async throws {
        try await ScriptedServer.runWithConnector { _, peer in
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nPROBE\r\n\r\n")
            try await peer.closed()
        } _: { server, connector in
            let opened = Opened(connector, .to(server.port, .httpStream))
            #expect(await opened.lines() == ["PROBE"])
            opened.transport.close()
            opened.transport.close()
            // The end of the connector waits for the end of its connections.
        }
    }

    @Test func decoratorHasTheLastWord() async throws {
        let (requests, record) = AsyncStream<Peer.Request>.makeStream()
        try await ScriptedServer.run { _, peer in
            record.yield(try await peer.request())
            try await peer.respond("200 OK")
        } _: { server in
            let settings = SocketSettings.forTests {
                $0.decorate = { request in
                    request.target += "&seen=\(request.headers.contains { $0.name == "X-Extra" })"
                    request.headers.append((name: "X-Decorated", value: "yes"))
                }
            }
            let connector = try SocketConnector(settings)
            var order = ConnectionRequest.to(server.port, target: "/p?q=1")
            order.headers = ["X-Extra": "1"]
            #expect(await Opened(connector, order).rest().end == .completed)
            let request = await requests.first { _ in true }
            #expect(request?.line == "POST /p?q=1&seen=true HTTP/1.1")
            #expect(request?.headers["x-decorated"] == "yes")
            await connector.shutDown()
        }
    }
}
