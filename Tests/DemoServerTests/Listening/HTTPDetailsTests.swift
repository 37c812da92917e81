internal import DemoServer
internal import Testing

/// The HTTP of different clients, apart from TLCP.
@Suite(.timeLimit(.minutes(1)))
struct HTTPDetailsTests {
    private static let target = "/lightstreamer/heartbeat.txt?LS_protocol=TLCP-2.5.0"

    @Test func bodyThatExpectsContinueGets100() async throws {
        try await withConnection { connection in
            for _ in 0..<2 {
                try await connection.send(
                    "POST \(Self.target) HTTP/1.1\nHost: t\nContent-Length: 2\nExpect: 100-continue\n\n"
                )
                #expect(try await connection.read(upTo: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await connection.send("\n")
                #expect(try await connection.read(upTo: "REQOK\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    @Test func everyAnswerHasADate() async throws {
        try await withConnection { connection in
            try await connection.post("heartbeat", "\n")
            #expect(try await connection.read(upTo: "REQOK\r\n").contains("\r\nDate: "))
            try await connection.post("create_session", "LS_adapter_set=DEMO&LS_cid=x")
            #expect(try await connection.read(upTo: "\r\n\r\n").contains("\r\nDate: "))
        }
    }

    @Test func targetMayBeAWholeAddress() async throws {
        try await withConnection { connection in
            try await connection.send("GET http://elsewhere\(Self.target) HTTP/1.1\nHost: t\n\n")
            #expect(try await connection.read(upTo: "REQOK\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
            let head = try await connection.shakeHands(path: "http://elsewhere/lightstreamer")
            #expect(head.hasPrefix("HTTP/1.1 101 "))
        }
    }

    @Test func olderHTTPKeepsConnectionsOnlyIfAsked() async throws {
        try await withServer { _, port in
            try await RawConnection.open(port: port) { connection in
                try await connection.send("GET \(Self.target) HTTP/1.0\nConnection: keep-alive\n\n")
                let first = try await connection.read(upTo: "REQOK\r\n")
                #expect(first.hasPrefix("HTTP/1.0 200 OK\r\n") && first.lowercased().contains("connection: keep-alive"))
                try await connection.send("GET \(Self.target) HTTP/1.0\n\n")
                #expect(try await connection.readToEnd().hasSuffix("\r\n\r\nREQOK\r\n"))
            }
            try await RawConnection.open(port: port) { connection in
                let create = "LS_adapter_set=DEMO&LS_cid=x&LS_op=destroy"
                try await connection.send(
                    "GET \(Self.target.replacing("heartbeat", with: "create_session"))&\(create) HTTP/1.0\n\n"
                )
                let all = try await connection.readToEnd()
                #expect(!all.lowercased().contains("chunked") && all.contains("CONERR,64,"))
            }
        }
    }

    @Test func aStreamOfOlderHTTPEndsWithItsConnection() async throws {
        try await withConnection { connection in
            let create = "LS_adapter_set=DEMO&LS_cid=x&LS_polling=true&LS_polling_millis=0&LS_idle_millis=10"
            try await connection.send(
                "GET \(Self.target.replacing("heartbeat", with: "create_session"))&\(create) HTTP/1.0\n"
                    + "Connection: keep-alive\n\n"
            )
            let all = try await connection.readToEnd()
            #expect(all.lowercased().contains("connection: close"))
            #expect(all.hasSuffix("LOOP,0\r\n"))
        }
    }

    @Test func headIsRefusedWithoutABody() async throws {
        try await withConnection { connection in
            try await connection.send("HEAD \(Self.target) HTTP/1.1\nHost: t\n\n")
            #expect(try await connection.read(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 405"))
            try await connection.post("heartbeat", "\n")
            #expect(try await connection.read(upTo: "REQOK\r\n").hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func upgradeThatConnectionDoesNotNameIsIgnored() async throws {
        try await withConnection { connection in
            try await connection.send(
                """
                GET /lightstreamer HTTP/1.1
                Host: test
                Connection: keep-alive
                Upgrade: websocket
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==


                """
            )
            #expect(try await connection.read(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test func chunkedBodiesAndBareLineFeedsAreUnderstood() async throws {
        try await withConnection { connection in
            let head = "POST /lightstreamer/control.txt?LS_protocol=TLCP-2.5.0&LS_session=S HTTP/1.1\r\nHost: t\r\n"
            let body = "9\r\nLS_reqId=\r\n11\r\n1&LS_op=destroy\nL\r\n11\r\nS_reqId=2&LS_op=d\r\n0\r\n\r\n"
            try await connection.send(bytes: Array((head + "Transfer-Encoding: chunked\r\n\r\n" + body).utf8))
            let answer = try await connection.read(upTo: "REQERR,2,67,Unknown LS_op\r\n")
            #expect(answer.contains("REQERR,1,20,Session not found\r\n"))
        }
    }

    @Test func refusalOfALongBodyArrivesWhileItIsStillSent() async throws {
        try await withConnection { connection in
            let length = 8_000_000
            let head = "POST \(Self.target) HTTP/1.1\r\nHost: t\r\nContent-Length: \(length)\r\n\r\n"
            try await connection.send(bytes: Array(head.utf8) + Array(repeating: 0x78, count: length))
            let answer = try await connection.readToEnd()
            #expect(answer.hasPrefix("HTTP/1.1 413"))
        }
    }
}
