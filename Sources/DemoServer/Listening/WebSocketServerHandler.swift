internal import NIOCore
internal import NIOWebSocket

/// One WebSocket: joins fragments to messages and writes the lines of the session.
final class WebSocketServerHandler: LinkHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private static let maxFrameLength = 16_384

    let driver: ServerDriver
    var context: ChannelHandlerContext?
    var link: LinkID?
    var isReadingStopped = false
    private let subprotocol: String?
    private var message: [UInt8]?
    private var writesContinuation = false
    private var isClosing = false

    /// A handler on the driver's event loop. `subprotocol`: of the handshake; nil: the client named none of TLCP.
    init(driver: ServerDriver, subprotocol: String?) {
        self.driver = driver
        self.subprotocol = subprotocol
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let peer = context.channel.remoteAddress?.ipAddress ?? ""
        link = driver.webSocketOpened(self, subprotocol: subprotocol, from: peer)
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        guard !isClosing || frame.opcode == .connectionClose else { return }
        // Clients must mask their frames; reserved bits belong to extensions, and none was negotiated.
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return close(code: 1_002) }
        switch frame.opcode {
        case .text, .continuation: receive(frame)
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            var payload = frame.unmaskedData
            let code = payload.readWebSocketErrorCode()
            if !isClosing { close(code: code.map { Int(UInt16(webSocketErrorCode: $0)) } ?? 1_000) }
            context.close(promise: nil)
        case .binary: close(code: 1_003)
        case .pong: frame.data.clear()
        default: close(code: 1_002)
        }
    }

    func inputClosed(_ context: ChannelHandlerContext) { context.close(promise: nil) }

    private func receive(_ frame: WebSocketFrame) {
        let isFirst = frame.opcode == .text
        guard isFirst == (message == nil) else { return close(code: 1_002) }
        var bytes = message ?? []
        message = nil
        bytes.append(contentsOf: frame.unmaskedData.readableBytesView)
        guard bytes.count <= driver.configuration.limits.request else { return close(code: 1_009) }
        guard frame.fin else {
            message = bytes
            return
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { return close(code: 1_007) }
        if let link { driver.received(bytes, on: link) }
    }

    func write(_ bytes: [UInt8], isFragment: Bool) {
        guard let context, !isClosing else { return }
        var rest = ByteBuffer(bytes: bytes)
        while let piece = rest.readSlice(length: min(rest.readableBytes, WebSocketServerHandler.maxFrameLength)) {
            let isLast = rest.readableBytes == 0 && !isFragment
            let opcode: WebSocketOpcode = writesContinuation ? .continuation : .text
            writesContinuation = !isLast
            context.write(wrapOutboundOut(WebSocketFrame(fin: isLast, opcode: opcode, data: piece)), promise: nil)
            if rest.readableBytes == 0 { break }
        }
        context.flush()
    }

    func close(code: Int) {
        guard let context, !isClosing else { return }
        isClosing = true
        endLink()
        var payload = context.channel.allocator.buffer(capacity: 2)
        payload.write(webSocketErrorCode: WebSocketErrorCode(codeNumber: min(max(code, 1_000), 4_999)))
        context.writeAndFlush(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: payload)),
            promise: nil
        )
        // Without a close frame of the peer within two seconds, the connection is closed.
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(2)) { context.close(promise: nil) }
    }

    func respond(_ answer: HTTPAnswer) { cut() }

    func openStream() {}

    func endStream(closesSocket: Bool) { close(code: 1_000) }
}
