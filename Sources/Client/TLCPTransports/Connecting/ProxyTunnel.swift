internal import NIOCore
internal import NIOHTTP1

/// The HTTP proxy of all connections of a client.
public struct ProxySettings: Sendable, Equatable {
    /// The proxy's host name or literal address.
    public var host: String
    /// The proxy's port.
    public var port: Int
    /// The user for Basic or Digest authentication; nil: none, or determined by a challenge.
    public var user: String?
    /// The password for the user. It is never logged.
    public var password: String?

    /// A proxy. `https` and WebSocket connections use `CONNECT`; plain HTTP requests use the absolute form.
    public init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }
}

/// Opens a tunnel through a proxy by `CONNECT`. The dialer then removes this handler.
final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: String
    private let authorization: String?
    private let done: EventLoopPromise<Void>
    private var reader = ResponseHeadReader()

    init(to endpoint: Endpoint, _ credentials: CredentialStore, done: EventLoopPromise<Void>) {
        target = endpoint.hostAndPort
        authorization = credentials.header(for: .proxy, method: "CONNECT", target: target)
        self.done = done
    }

    func handlerAdded(context: ChannelHandlerContext) {
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            guard let (head, rest) = try reader.feed(Array(unwrapInboundIn(data).readableBytesView)) else { return }
            switch head.status.code {
            case 200..<300 where rest.isEmpty: done.succeed()
            case 200..<300: throw DialFailure.badAnswer("the proxy sent bytes after its response")
            case 407:
                let schemes = AuthenticationScheme.parse(head.headers["proxy-authenticate"])
                throw DialFailure.proxyChallenge(schemes)
            default: throw DialFailure.proxyRefused(status: Int(head.status.code))
            }
        } catch {
            done.fail(error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("proxy"))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { done.fail(DialFailure.closedEarly("proxy")) }
}

/// Reads the head of an HTTP/1.x response that is followed by another protocol: the response to `CONNECT` or to a
/// WebSocket handshake.
struct ResponseHeadReader {
    /// The maximum length of a head in bytes.
    static let maxLength = 65_536

    private var bytes: [UInt8] = []

    /// Receives bytes; returns the head, once it is complete, and the bytes after it. Informational responses other
    /// than 101 are skipped. Throws if the head is malformed or too long.
    mutating func feed(_ more: [UInt8]) throws(DialFailure) -> (head: HTTPResponseHead, rest: [UInt8])? {
        // The end may begin in the bytes before; a peer that sends single bytes has each of them searched once.
        var start = max(0, bytes.count - 3)
        bytes += more
        while let end = bytes[start...].firstRange(of: Array("\r\n\r\n".utf8)) {
            let head = try Self.parse(bytes[..<end.lowerBound])
            bytes.removeSubrange(..<end.upperBound)
            start = 0
            if head.status == .switchingProtocols || head.status.code >= 200 {
                defer { bytes = [] }
                return (head, bytes)
            }
        }
        guard bytes.count <= Self.maxLength else { throw .badAnswer("the head of the response is too long") }
        return nil
    }

    private static func parse(_ bytes: ArraySlice<UInt8>) throws(DialFailure) -> HTTPResponseHead {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        guard let first = lines.popFirst(), let status = status(first) else {
            throw .badAnswer("the response is not HTTP")
        }
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
                line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { throw .badAnswer("the response has a malformed header") }
            headers.add(name: text(line[..<colon]), value: text(line[line.index(after: colon)...]))
        }
        return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    private static func status(_ line: ArraySlice<UInt8>) -> HTTPResponseStatus? {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard words.count >= 2, words[0].starts(with: "HTTP/1.".utf8), words[0].count == 8 else { return nil }
        let digits = text(words[1])
        guard digits.utf8.count == 3, let code = UInt16(digits), code >= 100 else { return nil }
        return HTTPResponseStatus(statusCode: Int(code))
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let start = bytes.firstIndex(where: { !isBlank($0) }) else { return "" }
        let end = bytes.lastIndex { !isBlank($0) } ?? start
        return String(decoding: bytes[start...end], as: UTF8.self)
    }
}
