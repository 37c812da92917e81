internal import NIOCore

/// One connection in the script of a server. Used by one task only.
final class Peer {
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private let channel: any Channel
    private var received: [UInt8] = []

    struct Closed: Error {}

    /// A request as it was sent.
    struct Request: Sendable, Equatable {
        var line: String
        var headers: [String: String]
        var body: String
    }

    init(_ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, _ channel: any Channel) {
        self.inbound = inbound.makeAsyncIterator()
        self.channel = channel
    }

    /// Sends, and returns when the system has accepted the bytes, so that the connection can be closed afterwards.
    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    /// Sends, and returns when the system has accepted the bytes.
    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// Reads the next request; header names in lower case.
    func request() async throws -> Request {
        while received.firstRange(of: Array("\r\n\r\n".utf8)) == nil { try await more() }
        let end = received.firstRange(of: Array("\r\n\r\n".utf8))!
        var lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")[...]
        received.removeSubrange(..<end.upperBound)
        let line = String(lines.removeFirst())
        var headers: [String: String] = [:]
        for header in lines {
            let parts = header.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let body = try await bytes(Int(headers["content-length"] ?? "0") ?? 0)
        return Request(line: line, headers: headers, body: String(decoding: body, as: UTF8.self))
    }

    /// Answers with a whole response.
    func respond(_ status: String, headers: String = "", body: String = "") async throws {
        try await send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Reads this many bytes.
    func bytes(_ count: Int) async throws -> [UInt8] {
        while received.count < count { try await more() }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    /// Waits until the other side closes.
    func closed() async throws {
        while (try? await more()) != nil {}
    }

    private func more() async throws {
        guard let buffer = try await inbound.next() else { throw Closed() }
        received += Array(buffer.readableBytesView)
    }
}
