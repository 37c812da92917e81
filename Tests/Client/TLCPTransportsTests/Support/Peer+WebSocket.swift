@testable internal import TLCPTransports

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The server's side of a WebSocket, byte by byte.
extension Peer {
    /// Reads the handshake and accepts it.
    @discardableResult
    func acceptWebSocket(extra: String = "", then frames: [UInt8] = []) async throws -> Request {
        let request = try await request()
        let key = request.headers["sec-websocket-key"] ?? ""
        let digest = MessageDigest.sha1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let accept = Data(digest).base64EncodedString()
        let answer = """
            HTTP/1.1 101 Switching Protocols\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Accept: \(accept)\r
            Sec-WebSocket-Protocol: \(request.headers["sec-websocket-protocol"] ?? "")\r
            \(extra)\r

            """
        try await send(Array(answer.utf8) + frames)
        return request
    }

    /// A frame as a server sends it: not masked.
    static func frame(_ opcode: UInt8, _ payload: some Collection<UInt8>, isFinal: Bool = true) -> [UInt8] {
        let first = (isFinal ? 0x80 : 0) | opcode
        let count = payload.count
        if count < 126 { return [first, UInt8(count)] + payload }
        if count < 65_536 { return [first, 126, UInt8(count >> 8), UInt8(count & 255)] + payload }
        return [first, 127] + (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) } + payload
    }

    /// Reads one frame of the client and removes its mask; a missing mask is a failure.
    func frame() async throws -> (opcode: UInt8, payload: [UInt8]) {
        let head = try await bytes(2)
        guard head[1] & 0x80 != 0 else { throw Unmasked() }
        var count = Int(head[1] & 0x7F)
        if count == 126 { count = try await bytes(2).reduce(0) { $0 << 8 | Int($1) } }
        if count == 127 { count = try await bytes(8).reduce(0) { $0 << 8 | Int($1) } }
        let mask = try await bytes(4)
        let payload = try await bytes(count)
        return (head[0] & 0x0F, payload.enumerated().map { $1 ^ mask[$0 % 4] })
    }

    struct Unmasked: Error {}
}
