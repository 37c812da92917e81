internal import NIOCore
internal import NIOPosix
internal import Testing

/// A TCP connection whose bytes a test writes and reads directly.
struct RawConnection {
    private var bytes: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private(set) var received: [UInt8] = []

    private init(
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        bytes = inbound.makeAsyncIterator()
        self.outbound = outbound
    }

    static func open(port: Int, _ body: (inout RawConnection) async throws -> Void) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true)
                    )
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(inbound, outbound)
            try await body(&connection)
        }
    }

    mutating func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")))
    }

    mutating func send(bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Closes the sending direction.
    func finish() {
        outbound.finish()
    }

    /// Reads up to the end of a text; returns and removes the bytes.
    mutating func read(upTo text: String) async throws -> String {
        let wanted = Array(text.utf8)
        while true {
            if let range = received.firstRange(of: wanted) {
                let part = String(decoding: received[..<range.upperBound], as: UTF8.self)
                received.removeFirst(range.upperBound)
                return part
            }
            guard let more = try await bytes.next() else {
                throw Ended(rest: String(decoding: received, as: UTF8.self))
            }
            received.append(contentsOf: more.readableBytesView)
        }
    }

    /// Reads this number of bytes.
    mutating func read(count: Int) async throws -> [UInt8] {
        while received.count < count {
            guard let more = try await bytes.next() else {
                throw Ended(rest: String(decoding: received, as: UTF8.self))
            }
            received.append(contentsOf: more.readableBytesView)
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Reads until the peer closes; returns the bytes.
    mutating func readToEnd() async throws -> String {
        while let more = try await bytes.next() { received.append(contentsOf: more.readableBytesView) }
        defer { received = [] }
        return String(decoding: received, as: UTF8.self)
    }

    struct Ended: Error {
        let rest: String
    }
}

extension RawConnection {
    /// Posts a body to the path of a request.
    mutating func post(_ name: String, _ body: String, query: String = "LS_protocol=TLCP-2.5.0", headers: String = "")
        async throws
    {
        let lines = body.replacing("\n", with: "\r\n")
        try await send(
            "POST /lightstreamer/\(name).txt?\(query) HTTP/1.1\nHost: test\nContent-Length: \(lines.utf8.count)\n\(headers)\n\(lines)"
        )
    }

    /// Requests a WebSocket and returns the head of the response.
    mutating func shakeHands(path: String = "/lightstreamer", headers: String = "") async throws -> String {
        try await send(
            """
            GET \(path) HTTP/1.1
            Host: test
            Connection: Upgrade
            Upgrade: websocket
            Sec-WebSocket-Version: 13
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
            Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com
            \(headers)

            """ + (headers.isEmpty ? "" : "\n")
        )
        return try await read(upTo: "\r\n\r\n")
    }

    /// Sends one frame, masked as clients have to.
    mutating func sendFrame(_ text: String, opcode: UInt8 = 1, isFinal: Bool = true, isMasked: Bool = true) async throws
    {
        let payload = Array(text.replacing("\n", with: "\r\n").utf8)
        let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        var frame: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        if payload.count < 126 {
            frame.append(maskBit | UInt8(payload.count))
        } else if payload.count <= 0xFFFF {
            frame += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        } else {
            frame.append(maskBit | 127)
            frame += (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        if isMasked { frame += mask }
        frame += payload.enumerated().map { isMasked ? $1 ^ mask[$0 % 4] : $1 }
        try await send(bytes: frame)
    }

    /// Reads one frame.
    mutating func readFrame() async throws -> (opcode: UInt8, isFinal: Bool, payload: [UInt8]) {
        let head = try await read(count: 2)
        var length = Int(head[1] & 0x7F)
        if length == 126 {
            let bytes = try await read(count: 2)
            length = Int(bytes[0]) << 8 | Int(bytes[1])
        } else if length == 127 {
            length = try await read(count: 8).reduce(0) { $0 << 8 | Int($1) }
        }
        return (head[0] & 0x0F, head[0] & 0x80 != 0, try await read(count: length))
    }

    /// Reads text messages up to a line with this prefix, which is returned.
    mutating func readLine(startingWith start: String) async throws -> String {
        while true {
            let (opcode, _, payload) = try await readFrame()
            #expect(opcode <= 1)
            let lines = String(decoding: payload, as: UTF8.self).split(separator: "\r\n").map(String.init)
            if let line = lines.first(where: { $0.hasPrefix(start) }) { return line }
        }
    }
}
