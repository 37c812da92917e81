internal import DemoServer
internal import NIOCore
internal import Primitives
internal import Testing

/// No input from a socket traps the server, or increases its memory without limit.
@Suite(.timeLimit(.minutes(2)))
struct HostileClientTests {
    private static let heartbeat =
        "POST /lightstreamer/heartbeat.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n\r\n"

    /// Whether the server still serves.
    private func expectLife(_ port: Int, _ comment: Comment? = nil) async throws {
        try await RawConnection.open(port: port) { connection in
            try await connection.post("heartbeat", "\n")
            #expect(try await connection.read(upTo: "REQOK\r\n").hasPrefix("HTTP/1.1 200"), comment)
        }
    }

    @Test func clientThatReadsNothingIsNotRead() async throws {
        try await withServer({ $0.timings.idleHTTP = .milliseconds(400) }) { _, port in
            try await RawConnection.open(port: port) { connection in
                let block = Array(repeating: Self.heartbeat, count: 500).joined()
                // A server that continues to read accepts all of them, and has to keep the answers.
                await #expect(throws: (any Error).self) {
                    for _ in 0..<2_000 { try await connection.send(bytes: Array(block.utf8)) }
                }
            }
            try await expectLife(port)
        }
    }

    @Test func randomBytesNeverTrap() async throws {
        var generator = SplitMix64(seed: 20_260_518)
        try await withServer { server, port in
            for round in 0..<150 {
                try await RawConnection.open(port: port) { connection in
                    // The server may close the connection at any time.
                    try? await Self.annoy(&connection, kind: round % 5, &generator)
                }
            }
            try await expectLife(port)
            #expect(await server.census().sessions <= 150)
        }
    }

    private static func annoy(
        _ connection: inout RawConnection,
        kind: Int,
        _ generator: inout SplitMix64
    ) async throws {
        let length = Int.random(in: 1...3_000, using: &generator)
        let noise = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        switch kind {
        case 0:
            try await connection.send(bytes: noise)
        case 1:
            try await connection.send(bytes: Array("POST /lightstreamer/".utf8) + noise + Array(heartbeat.utf8))
        case 2:
            let head = "POST /lightstreamer/control.txt?LS_protocol=TLCP-2.5.0 HTTP/1.1\r\nHost: t\r\n"
            try await connection.send(bytes: Array((head + "Content-Length: \(noise.count)\r\n\r\n").utf8) + noise)
            _ = try await connection.read(upTo: "\r\n\r\n")
        case 3:
            _ = try await connection.shakeHands()
            try await connection.send(bytes: noise)
        default:
            _ = try await connection.shakeHands()
            try await connection.sendFrame("create_session\nLS_adapter_set=DEMO&LS_cid=x")
            _ = try await connection.readLine(startingWith: "CONOK")
            let text = String(decoding: noise, as: UTF8.self)
            for name in ["control", "msg", "bind_session", "heartbeat", "wsok"] {
                try await connection.sendFrame("\(name)\n\(text)")
            }
            try await connection.sendFrame("control\nLS_reqId=1&LS_op=constrain")
            _ = try await connection.readLine(startingWith: "REQOK")
        }
    }

    @Test func framesOfExtensionsThatWereNotAgreedEndTheWebSocket() async throws {
        try await withServer { _, port in
            for firstByte: UInt8 in [0xC1, 0xA1, 0x91] {
                try await RawConnection.open(port: port) { connection in
                    _ = try await connection.shakeHands()
                    try await connection.send(bytes: [firstByte, 0x80, 1, 2, 3, 4])
                    let goodbye = try await connection.readFrame()
                    #expect(goodbye.opcode == 8 && goodbye.payload == [0x03, 0xEA])
                }
            }
        }
    }

    @Test func halfClosedConnectionIsAnEndedOne() async throws {
        try await withServer { server, port in
            try await RawConnection.open(port: port) { connection in
                try await connection.post("create_session", "LS_adapter_set=DEMO&LS_cid=x")
                _ = try await connection.read(upTo: "CONS,unlimited")
                #expect(await server.census().boundSessions == 1)
                connection.finish()
                _ = try await connection.readToEnd()
            }
            let census = await server.census()
            #expect(census.boundSessions == 0 && census.sessions == 1)
        }
    }

    @Test(arguments: [1, 3])
    func halfClosedConnectionGetsTheResponsesToItsRequests(count: Int) async throws {
        try await withConnection { connection in
            for _ in 0..<count { try await connection.post("heartbeat", "LS_session=x") }
            connection.finish()
            let text = try await connection.readToEnd()
            #expect(text.split(separator: "HTTP/1.1 200 OK").count == count && text.hasSuffix("REQOK\r\n"))
        }
    }

    @Test func unboundSessionsBeyondTheLimitAreRefused() async throws {
        try await withServer({ $0.limits.sessions = 500 }) { server, port in
            try await RawConnection.open(port: port) { connection in
                let body = "LS_adapter_set=DEMO&LS_cid=x&LS_polling=true&LS_polling_millis=0&LS_idle_millis=0"
                for _ in 0..<500 {
                    try await connection.post("create_session", body)
                    _ = try await connection.read(upTo: "LOOP,0\r\n")
                }
                try await connection.post("create_session", body)
                _ = try await connection.read(upTo: "CONERR,8,Session count limit reached\r\n")
            }
            #expect(await server.census().sessions == 500)
        }
    }
}
