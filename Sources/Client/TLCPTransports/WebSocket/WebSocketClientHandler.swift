internal import NIOCore
internal import NIOWebSocket

/// Handles the frames of an open WebSocket: passes text to the receiver of lines, answers pings, and closes on other
/// frames.
final class WebSocketClientHandler: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Nil after the end of the transport, which receives nothing more.
    private weak var transport: WebSocketTransport?
    private let receiver: LineReceiver
    private var context: ChannelHandlerContext?
    private var isReadPending = false
    private var isInMessage = false
    private var hasSentClose = false

    init(_ transport: WebSocketTransport, _ receiver: LineReceiver) {
        self.transport = transport
        self.receiver = receiver
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: - For the transport

    /// Sends one text message.
    func send(_ message: [UInt8]) {
        guard let context else { return }
        write(.text, ByteBuffer(bytes: message), context)
    }

    /// Sends the close frame after all other messages, and closes the channel when it is written or after a time limit.
    func close(code: WebSocketErrorCode = .normalClosure, within time: TimeAmount = .seconds(2)) {
        guard let context else { return }
        let deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
        sendClose(code, context).assumeIsolated().whenComplete { _ in
            deadline.cancel()
            context.close(promise: nil)
        }
    }

    /// The transport has ended.
    func release() { transport = nil }

    /// Continues to read after the full receive window has suspended it.
    func resumeReading() {
        guard isReadPending else { return }
        isReadPending = false
        context?.read()
    }

    // MARK: - Pipeline

    func read(context: ChannelHandlerContext) {
        if transport != nil, receiver.isFull { isReadPending = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard frame.maskKey == nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return violate(.protocolError, "a frame violates the WebSocket protocol")
        }
        switch frame.opcode {
        case .text where !isInMessage, .continuation where isInMessage:
            isInMessage = !frame.fin
            guard let transport else { return }
            do {
                try receiver.receive(frame.data, endsMessage: frame.fin)
            } catch {
                transport.ended(.failed(reason: "\(error)"))
                close(code: .messageTooLarge)
            }
        case .ping: write(.pong, frame.data, context)
        case .pong: break
        case .connectionClose: peerCloses(frame, context)
        case .binary: violate(.unacceptableData, "the server sent a binary message")
        default: violate(.protocolError, "a frame violates the WebSocket protocol")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if transport != nil { receiver.flush() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        transport?.ended(.failed(reason: "the WebSocket was closed without a close frame"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOWebSocketError {
            violate(.protocolError, "a frame violates the WebSocket protocol: \(error)")
        } else {
            transport?.ended(DialFailure.end(for: error))
            context.close(promise: nil)
        }
    }

    private func peerCloses(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        var data = frame.data
        let code = data.readWebSocketErrorCode()
        transport?.ended(.completed)
        sendClose(code ?? .normalClosure, context).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func violate(_ code: WebSocketErrorCode, _ reason: String) {
        transport?.ended(.failed(reason: reason))
        close(code: code)
    }

    private func sendClose(_ code: WebSocketErrorCode, _ context: ChannelHandlerContext) -> EventLoopFuture<Void> {
        guard !hasSentClose else { return context.eventLoop.makeSucceededVoidFuture() }
        hasSentClose = true
        var payload = ByteBuffer()
        payload.write(webSocketErrorCode: code)
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: payload)
        return context.writeAndFlush(wrapOutboundOut(frame))
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !hasSentClose else { return }
        let frame = WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}
