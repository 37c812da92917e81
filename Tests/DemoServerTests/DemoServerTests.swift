internal import DemoServer
internal import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemoServerTests {
    private static let create = "LS_adapter_set=DEMO&LS_cid=x&LS_send_sync=false"
    private static let add =
        "LS_op=add&LS_subId=1&LS_mode=MERGE&LS_group=a&LS_schema=text&LS_data_adapter=HAND&LS_snapshot=true"

    @Test func streamsOverHTTPInChunksOfWholeLines() async throws {
        try await withServer { server, port in
            try await RawConnection.open(port: port) { connection in
                try await connection.post(
                    "create_session",
                    "\(Self.create)&\(Self.add)",
                    headers: "Origin: http://page.example\n"
                )
                let head = try await connection.read(upTo: "\r\n\r\n")
                #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(head.lowercased().contains("transfer-encoding: chunked"))
                #expect(head.contains("Content-Type: text/enriched; charset=UTF-8"))
                #expect(head.contains("Access-Control-Allow-Origin: http://page.example"))
                #expect(head.contains("Access-Control-Allow-Credentials: true"))
                let start = try await connection.read(upTo: "CONF,1,unlimited,filtered\r\n")
                #expect(start.contains("CONOK,S"))
                await server.publish(.publish(item: "a", values: ["caffè"]), to: "HAND")
                let update = try await connection.read(upTo: "U,1,1,caffè\r\n")
                #expect(update.contains("\r\n"))
            }
        }
    }

    @Test func webSocketCarriesASession() async throws {
        try await withServer { server, port in
            try await RawConnection.open(port: port) { connection in
                let head = try await connection.shakeHands(
                    headers: "Sec-WebSocket-Extensions: permessage-deflate\nOrigin: null"
                )
                #expect(head.hasPrefix("HTTP/1.1 101 "))
                #expect(head.contains("Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com"))
                #expect(head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                #expect(!head.lowercased().contains("extensions"))
                try await connection.sendFrame("wsok")
                #expect(try await connection.readLine(startingWith: "WSOK") == "WSOK")
                try await connection.sendFrame("create_session\n\(Self.create)")
                _ = try await connection.readLine(startingWith: "CONS,")
                try await connection.sendFrame("control\nLS_reqId=1&", isFinal: false)
                try await connection.sendFrame(Self.add, opcode: 0)
                _ = try await connection.readLine(startingWith: "CONF,1")
                await server.publish(.publish(item: "a", values: [String(repeating: "x", count: 40_000)]), to: "HAND")
                var pieces = [try await connection.readFrame()]
                while pieces.last?.isFinal == false { pieces.append(try await connection.readFrame()) }
                #expect(pieces.map(\.opcode) == [1, 0, 0])
                #expect(pieces.allSatisfy { $0.payload.count <= 16_384 })
                try await connection.sendFrame("hello", opcode: 9)
                let pong = try await connection.readFrame()
                #expect(pong.opcode == 10 && pong.payload == Array("hello".utf8))
                try await connection.sendFrame("control\nLS_reqId=2&LS_op=destroy&LS_close_socket=true")
                _ = try await connection.readLine(startingWith: "REQOK,2")
                let goodbye = try await connection.readFrame()
                #expect(goodbye.opcode == 8 && goodbye.payload == [0x03, 0xE8])
            }
        }
    }

    @Test func connectionThatServedRequestsCanBecomeAWebSocket() async throws {
        try await withConnection { connection in
            for _ in 0..<2 {
                try await connection.post("heartbeat", "\n")
                _ = try await connection.read(upTo: "REQOK\r\n")
            }
            #expect(try await connection.shakeHands().hasPrefix("HTTP/1.1 101 "))
            try await connection.sendFrame("wsok")
            #expect(try await connection.readLine(startingWith: "WSOK") == "WSOK")
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await withConnection { connection in
            try await connection.post("control", "LS_reqId=1&LS_op=destroy&LS_session=a")
            try await connection.post("control", "LS_reqId=2&LS_op=destroy&LS_session=a")
            let answers = try await connection.read(upTo: "REQERR,2,20,Session not found\r\n")
            #expect(answers.contains("REQERR,1,20,Session not found\r\n"))
        }
    }

    @Test func preflightsUnknownPathsAndWrongMethodsAreAnswered() async throws {
        try await withConnection { connection in
            try await connection.send(
                "OPTIONS /lightstreamer/control.txt HTTP/1.1\nHost: t\nOrigin: http://a\nAccess-Control-Request-Headers: x-y\n\n"
            )
            let preflight = try await connection.read(upTo: "\r\n\r\n")
            #expect(preflight.hasPrefix("HTTP/1.1 200") && preflight.contains("Access-Control-Allow-Headers: x-y"))
            #expect(preflight.contains("Access-Control-Allow-Methods: POST, GET, OPTIONS"))
            try await connection.send("GET /favicon.ico HTTP/1.1\nHost: t\n\n")
            #expect(try await connection.read(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
            try await connection.send("PUT /lightstreamer/control.txt HTTP/1.1\nHost: t\nContent-Length: 0\n\n")
            let wrong = try await connection.read(upTo: "\r\n\r\n")
            #expect(wrong.hasPrefix("HTTP/1.1 405") && wrong.contains("Allow: POST, GET, OPTIONS"))
            let elsewhere = try await connection.shakeHands(path: "/elsewhere")
            #expect(elsewhere.hasPrefix("HTTP/1.1 404"))
            _ = try await connection.readToEnd()
        }
    }

    @Test func oversizeRequestsAreRefused() async throws {
        try await withServer({ $0.limits.request = 1_000 }) { _, port in
            try await RawConnection.open(port: port) { connection in
                try await connection.post("msg", String(repeating: "x", count: 1_001))
                #expect(try await connection.readToEnd().hasPrefix("HTTP/1.1 413"))
            }
            try await RawConnection.open(port: port) { connection in
                _ = try await connection.shakeHands()
                try await connection.sendFrame(String(repeating: "x", count: 700), isFinal: false)
                try await connection.sendFrame(String(repeating: "x", count: 700), opcode: 0)
                #expect(try await connection.readFrame().payload == [0x03, 0xF1])
            }
        }
    }

    @Test(
        arguments: [
            (2, true, [0x03, 0xEB]), (1, false, [0x03, 0xEA]), (0, true, [0x03, 0xEA]), (3, true, [0x03, 0xEA]),
            (11, true, [0x03, 0xEA]),
        ] as [(UInt8, Bool, [UInt8])]
    )
    func webSocketViolationsAreClosedWithTheirCode(opcode: UInt8, isMasked: Bool, code: [UInt8]) async throws {
        try await withConnection { connection in
            _ = try await connection.shakeHands()
            try await connection.sendFrame("wsok", opcode: opcode, isMasked: isMasked)
            let frame = try await connection.readFrame()
            #expect(frame.opcode == 8 && Array(frame.payload.prefix(2)) == code)
        }
    }

    @Test func nonsenseInsteadOfHTTPIsRefused() async throws {
        try await withConnection { connection in
            try await connection.send(bytes: [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x0A, 0x0D, 0x0A])
            #expect(try await connection.readToEnd().hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test func faultsReachTheSocket() async throws {
        try await withServer { server, port in
            await server.install([Fault(.status(503)), Fault(.drop, at: .data(2))])
            try await RawConnection.open(port: port) { connection in
                #expect(try await connection.shakeHands().hasPrefix("HTTP/1.1 503"))
                _ = try await connection.readToEnd()
            }
            try await RawConnection.open(port: port) { connection in
                try await connection.post("create_session", "\(Self.create)&\(Self.add)")
                let all = try await connection.readToEnd()
                #expect(all.contains("CONF,1") && !all.hasSuffix("0\r\n\r\n"))
            }
            #expect(await server.census().sessions == 1)
        }
    }

    @Test func slowAndIdleConnectionsAreClosed() async throws {
        try await withConnection({ $0.timings.idleHTTP = .milliseconds(150) }) { connection in
            let rest = try await connection.readToEnd()
            #expect(rest.isEmpty)
        }
        // A server of its own: a connection must not be idle for too long before its head has come.
        try await withConnection({ $0.timings.slowRequest = .milliseconds(150) }) { connection in
            try await connection.send(
                "POST /lightstreamer/control.txt HTTP/1.1\nHost: t\nContent-Length: 50\n\nLS_"
            )
            let rest = try await connection.readToEnd()
            #expect(rest.isEmpty)
        }
    }

    @Test func stoppingSendsEndToSessions() async throws {
        let server = DemoServer()
        let run = Task { try await server.run() }
        try await RawConnection.open(port: server.boundPort) { connection in
            _ = try await connection.shakeHands()
            try await connection.sendFrame("create_session\n\(Self.create)")
            _ = try await connection.readLine(startingWith: "CONOK")
            run.cancel()
            #expect(try await connection.readLine(startingWith: "END") == "END,32,Server closing")
        }
        try await run.value
        await #expect(throws: DemoServerError.ended) { try await server.boundPort }
        await #expect(throws: DemoServerError.alreadyRun) { try await server.run() }
    }

    /// The names of types, and the function that failed, were part of the reasons.
    @Test(arguments: [
        ("192.0.2.1", "Cannot assign requested address"),
        (String(repeating: "a", count: 300), "Name or service not known"),
    ])
    func anAddressThatIsNotHereIsReportedInTheWordsOfTheSystem(host: String, reason: String) async {
        var configuration = DemoServerConfiguration()
        (configuration.host, configuration.port) = (host, 0)
        let server = DemoServer(configuration)
        await #expect(throws: DemoServerError.cannotListen(reason: reason)) { try await server.run() }
    }

    @Test func portInUseIsReported() async throws {
        try await withServer { _, port in
            var configuration = DemoServerConfiguration()
            configuration.port = port
            let second = DemoServer(configuration)
            await #expect(throws: DemoServerError.cannotListen(reason: "Address already in use")) {
                try await second.run()
            }
            await #expect(throws: DemoServerError.ended) { try await second.boundPort }
        }
    }
}
