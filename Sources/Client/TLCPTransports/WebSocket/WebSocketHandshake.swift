internal import NIOCore
internal import NIOHTTP1
internal import Primitives

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Sends the upgrade request of a WebSocket and receives the response. Bytes that follow the response are held back
/// until the frame handlers are in the pipeline.
final class WebSocketHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let head: HTTPRequestHead
    private let done: EventLoopPromise<HTTPResponseHead>
    private var reader = ResponseHeadReader()
    private var isAnswered = false
    private var held: [UInt8] = []

    /// A handshake; the promise receives the head of the HTTP response, whatever its status.
    init(_ head: HTTPRequestHead, done: EventLoopPromise<HTTPResponseHead>) {
        self.head = head
        self.done = done
    }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: try Self.encode(head)))).cascadeFailure(to: done)
        } catch {
            done.fail(error)
        }
    }

    private static func encode(_ head: HTTPRequestHead) throws(DialFailure) -> [UInt8] {
        let lines = ["\(head.method.rawValue) \(head.uri) HTTP/1.1"] + head.headers.map { "\($0.name): \($0.value)" }
        // The request decorator can set any text.
        guard lines.allSatisfy({ $0.utf8.allSatisfy { !$0.isASCIIControl || $0 == 0x09 } }) else {
            throw .badAnswer("a header of the request holds control characters")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        if isAnswered { return held += bytes }
        if TLSAlertDetector.isAlert(bytes) { return done.fail(DialFailure.encrypted) }
        do {
            guard let (head, rest) = try reader.feed(bytes) else { return }
            isAnswered = true
            held = rest
            done.succeed(head)
        } catch {
            done.fail(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("WebSocket handshake"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("WebSocket handshake"))
        guard !held.isEmpty else { return }
        context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: held)))
        context.fireChannelReadComplete()
    }

    /// A new key: 16 random bytes in Base64.
    static func makeKey() -> String {
        Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    /// The error in a 101 response (RFC 6455 section 4.1); nil if it is valid.
    static func flaw(in head: HTTPResponseHead, key: String, subprotocol: String) -> String? {
        let headers = head.headers
        guard headers["upgrade"].contains(where: { $0.lowercased() == "websocket" }),
            headers[canonicalForm: "connection"].contains(where: { $0.lowercased() == "upgrade" })
        else { return "the response to the WebSocket handshake is not an upgrade" }
        let digest = MessageDigest.sha1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        let accept = Data(digest).base64EncodedString()
        guard headers["sec-websocket-accept"] == [accept] else {
            return "the WebSocket handshake has an invalid accept key"
        }
        guard headers["sec-websocket-extensions"].isEmpty else {
            return "the server selected a WebSocket extension that was not offered"
        }
        guard headers["sec-websocket-protocol"] == [subprotocol] else {
            return "the server does not support the subprotocol \(subprotocol)"
        }
        return nil
    }
}
