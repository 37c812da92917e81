internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket
internal import TLCP

/// A WebSocket connection.
///
/// `@unchecked Sendable`: all state is touched on `loop` alone; the methods of `Transport` hop there.
final class WebSocketTransport: Transport, @unchecked Sendable {
    private enum State {
        /// The transport is new, or a challenge awaits its answer. *Leaves to* `dialing`, `ended`.
        case waiting
        /// A channel is being opened, or the handshake is in progress. *Leaves to* `waiting`, `open`, `ended`.
        case dialing((any Channel)?)
        /// Messages can be sent and received. *Leaves to* `ended`.
        case open(WebSocketClientHandler)
        /// Final.
        case ended
    }

    private let request: ConnectionRequest
    private let shared: SocketContext
    private let loop: any EventLoop
    private let events: @Sendable (TransportEvent) -> Void
    private let receiver: LineReceiver
    private var state = State.waiting
    private var failures = 0

    init(_ request: ConnectionRequest, _ shared: SocketContext, events: @escaping @Sendable (TransportEvent) -> Void) {
        self.request = request
        self.shared = shared
        self.events = events
        loop = shared.dialer.loop
        receiver = LineReceiver(shared.settings, emit: events)
    }

    // MARK: - Transport

    func send(_ message: [UInt8]) {
        loop.execute { [self] in
            if case .open(let handler) = state { handler.send(message) }
        }
    }

    func handled(_ byteCount: Int) {
        loop.execute { [self] in
            if receiver.handled(byteCount), case .open(let handler) = state { handler.resumeReading() }
        }
    }

    func close() {
        loop.execute { [self] in
            switch state {
            case .dialing(let channel): channel?.close(promise: nil)
            case .open(let handler):
                handler.release()
                handler.close()
            case .waiting, .ended: break
            }
            state = .ended
        }
    }

    func release() { close() }

    // MARK: - Opening

    /// Starts to connect; on the loop.
    func start() {
        guard case .waiting = state else { return }
        state = .dialing(nil)
        let key = WebSocketHandshake.makeKey()
        let limit = shared.settings.timeout(of: request)
        shared.dialer.dial(Endpoint(request), needsTunnel: true, within: limit) { [self] channel in
            if case .dialing = state { state = .dialing(channel) } else { channel.close(promise: nil) }
        }
        .flatMap { [self] channel in
            shared.dialer.step("WebSocket handshake", within: limit) { done, _ in
                let head = shared.heads.webSocket(request, key: key)
                try channel.pipeline.syncOperations.addHandler(WebSocketHandshake(head, done: done))
            }
            .map { (channel, $0) }
        }
        .whenComplete { [self] result in
            switch result {
            case .success(let (channel, head)): answered(channel, head, key)
            case .failure(let error): fail(error)
            }
        }
    }

    private func answered(_ channel: any Channel, _ head: HTTPResponseHead, _ key: String) {
        guard case .dialing = state else { return channel.close(promise: nil) }
        shared.settings.cookies.receive(setCookie: head.headers["set-cookie"], from: request.cookieOrigin)
        guard head.status == .switchingProtocols else { return refused(head, channel) }
        if let flaw = WebSocketHandshake.flaw(in: head, key: key, subprotocol: request.subprotocol) {
            return fail(DialFailure.badAnswer(flaw))
        }
        do {
            try upgrade(channel)
        } catch {
            fail(error)
        }
    }

    private func upgrade(_ channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        let handler = WebSocketClientHandler(self, receiver)
        let decoder = WebSocketFrameDecoder(maxFrameSize: min(max(shared.settings.maxLineLength, 1 << 14), 1 << 30))
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(ArrivalCounter(handler))
        try pipeline.addHandler(ByteToMessageHandler(decoder))
        try pipeline.addHandler(handler)
        state = .open(handler)
        events(.opened)
        // On removal it passes on the bytes that followed the response.
        pipeline.removeHandler(try pipeline.handler(type: WebSocketHandshake.self), promise: nil)
    }

    private func refused(_ head: HTTPResponseHead, _ channel: any Channel) {
        channel.close(promise: nil)
        state = .waiting
        defer { failures += 1 }
        let challenge = HTTPChallenge(head, request, shared.settings.proxy)
        shared.dialer.answer(challenge, failures: failures).whenSuccess { [self] isAnswered in
            guard case .waiting = state else { return }
            if isAnswered { start() } else { ended(DialFailure.handshakeEnd(httpStatus: Int(head.status.code))) }
        }
    }

    private func fail(_ error: any Error) {
        if case .dialing(let channel?) = state { channel.close(promise: nil) }
        ended(DialFailure.end(for: error))
    }

    /// The unwritten bytes have passed a mark.
    func writabilityChanged(to isWritable: Bool) { if case .open = state { events(.writable(isWritable)) } }

    func ended(_ end: TransportEnd) {
        if case .ended = state { return }
        if case .open(let handler) = state { handler.release() }
        receiver.flush()
        state = .ended
        events(.closed(end))
    }
}

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
    /// The bytes that have arrived in the present read, and whether they have completed a frame.
    fileprivate var arrivedBytes = 0
    private var hasFrame = false
    private var hasSentClose = false
    private var isPongUnwritten = false
    /// The data of the last ping that arrived while a pong was not written.
    private var lastPing: ByteBuffer?

    init(_ transport: WebSocketTransport?, _ receiver: LineReceiver) {
        self.transport = transport
        self.receiver = receiver
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: - For the transport

    func send(_ message: [UInt8]) {
        guard let context, !hasSentClose else { return }
        let data = ByteBuffer(bytes: message)
        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
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
        hasFrame = true
        let frame = unwrapInboundIn(data)
        guard frame.maskKey == nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            return violate(.protocolError, "a frame violates the WebSocket protocol")
        }
        switch frame.opcode {
        case .text where !isInMessage, .continuation where isInMessage:
            isInMessage = !frame.fin
            guard transport != nil else { return }
            do {
                try receiver.receive(frame.data, endsMessage: frame.fin)
            } catch {
                refuse(error)
            }
        case .ping: answer(ping: frame.data, context)
        case .pong: break
        case .connectionClose: peerCloses(frame)
        case .binary: violate(.unacceptableData, "the server sent a binary message")
        default: violate(.protocolError, "a frame violates the WebSocket protocol")
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if transport != nil {
            do {
                if hasFrame { receiver.flush() } else { try receiver.receiveIncomplete(byteCount: arrivedBytes) }
            } catch {
                refuse(error)
            }
        }
        (arrivedBytes, hasFrame) = (0, false)
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        transport?.writabilityChanged(to: context.channel.isWritable)
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        transport?.ended(.failed(reason: "the WebSocket was closed without a close frame", kind: .closed))
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

    /// Sends a pong. At most one is not written, so that pings of a server that does not read take no memory: the last
    /// of those that arrive meanwhile is answered afterwards (RFC 6455 section 5.5.3).
    private func answer(ping data: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !hasSentClose else { return }
        guard !isPongUnwritten else {
            lastPing = data
            return
        }
        isPongUnwritten = true
        let frame = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: data)
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { [self] _ in
            isPongUnwritten = false
            guard let ping = lastPing, let context = self.context else { return }
            lastPing = nil
            answer(ping: ping, context)
        }
    }

    private func peerCloses(_ frame: WebSocketFrame) {
        var data = frame.data
        let code = data.readWebSocketErrorCode()
        transport?.ended(.completed)
        close(code: code ?? .normalClosure)
    }

    /// A line is too long.
    private func refuse(_ error: TLCPError) {
        transport?.ended(DialFailure.end(for: error))
        close(code: .messageTooLarge)
    }

    private func violate(_ code: WebSocketErrorCode, _ reason: String) {
        transport?.ended(DialFailure.end(for: DialFailure.badAnswer(reason)))
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
}

/// Counts the bytes of a read before they are decoded: a frame is passed on as a whole, and may take long.
private final class ArrivalCounter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let client: WebSocketClientHandler

    init(_ client: WebSocketClientHandler) { self.client = client }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.arrivedBytes += unwrapInboundIn(data).readableBytes
        context.fireChannelRead(data)
    }
}
