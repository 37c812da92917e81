internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// A WebSocket, from dialing to its end.
///
/// `@unchecked Sendable`: all state is touched on `loop` alone; the methods of `Transport` hop there.
final class WebSocketTransport: Transport, @unchecked Sendable {
    private enum Phase {
        /// Nothing has been done yet, or a challenge is being answered.
        case waiting
        /// A channel is being opened, or the handshake is under way.
        case dialing((any Channel)?)
        /// Messages may be sent and received.
        case open(WebSocketHandler)
        /// Nothing follows.
        case ended
    }

    let traits = TransportTraits(isMultiplexed: true, isStreaming: true)
    private let order: ConnectionRequest
    private let shared: SocketContext
    private let loop: any EventLoop
    private let events: @Sendable (TransportEvent) -> Void
    private let receiver: LineReceiver
    private var phase = Phase.waiting
    private var failures = 0

    init(_ order: ConnectionRequest, _ shared: SocketContext, events: @escaping @Sendable (TransportEvent) -> Void) {
        self.order = order
        self.shared = shared
        self.events = events
        loop = shared.dialer.loop
        receiver = LineReceiver(
            maxLineLength: shared.settings.maxLineLength,
            window: shared.settings.receiveWindow,
            emit: events
        )
    }

    // MARK: - Transport

    func send(_ message: [UInt8]) {
        loop.execute { [self] in
            if case .open(let handler) = phase { handler.send(message) }
        }
    }

    func handled(_ byteCount: Int) {
        loop.execute { [self] in
            if receiver.handled(byteCount), case .open(let handler) = phase { handler.resumeReading() }
        }
    }

    func close() {
        loop.execute { [self] in
            switch phase {
            case .dialing(let channel): channel?.close(promise: nil)
            case .open(let handler): handler.close()
            case .waiting, .ended: break
            }
            phase = .ended
        }
    }

    func release() { close() }

    // MARK: - Opening

    /// Begins; on the loop.
    func start() {
        guard case .waiting = phase else { return }
        phase = .dialing(nil)
        let key = WebSocketHandshake.makeKey()
        shared.dialer.dial(Endpoint(order), needsTunnel: true) { [self] channel in
            if case .dialing = phase { phase = .dialing(channel) } else { channel.close(promise: nil) }
        }
        .flatMap { [self] channel in shakeHands(channel, key).map { (channel, $0) } }
        .whenComplete { [self] result in
            switch result {
            case .success(let (channel, head)): answered(channel, head, key)
            case .failure(let error): fail(error)
            }
        }
    }

    private func shakeHands(_ channel: any Channel, _ key: String) -> EventLoopFuture<HTTPResponseHead> {
        let done = loop.makePromise(of: HTTPResponseHead.self)
        let deadline = loop.scheduleTask(in: shared.settings.timeout) {
            done.fail(DialFailure.timeout("WebSocket handshake"))
        }
        done.futureResult.whenComplete { _ in deadline.cancel() }
        do {
            let head = shared.heads.webSocket(order, key: key)
            try channel.pipeline.syncOperations.addHandler(WebSocketHandshake(head, done: done))
        } catch {
            done.fail(error)
        }
        return done.futureResult
    }

    private func answered(_ channel: any Channel, _ head: HTTPResponseHead, _ key: String) {
        guard case .dialing = phase else { return channel.close(promise: nil) }
        shared.settings.cookies.receive(setCookie: head.headers["set-cookie"], from: order.cookieOrigin)
        guard head.status == .switchingProtocols else { return refused(head, channel) }
        if let flaw = WebSocketHandshake.flaw(in: head, key: key, subprotocol: order.subprotocol) {
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
        let handler = WebSocketHandler(self)
        let decoder = WebSocketFrameDecoder(maxFrameSize: min(max(shared.settings.maxLineLength, 1 << 14), 1 << 30))
        try pipeline.addHandler(WebSocketFrameEncoder())
        try pipeline.addHandler(ByteToMessageHandler(decoder))
        try pipeline.addHandler(handler)
        phase = .open(handler)
        events(.opened)
        // As it leaves it hands on what came right after the answer.
        pipeline.removeHandler(try pipeline.handler(type: WebSocketHandshake.self), promise: nil)
    }

    private func refused(_ head: HTTPResponseHead, _ channel: any Channel) {
        channel.close(promise: nil)
        guard let challenge = HTTPChallenge(head, order, shared), failures < Dialer.maxFailures else {
            return fail(DialFailure.badAnswer("HTTP status \(head.status.code)"))
        }
        phase = .waiting
        shared.credentials.forget(challenge.asker)
        let attempt = failures
        failures += 1
        shared.dialer.ask(challenge.kind, host: challenge.host, port: challenge.port, failures: attempt).whenSuccess {
            [self] in
            guard case .waiting = phase else { return }
            if shared.credentials.take($0, for: challenge.asker) {
                start()
            } else {
                ended(.failed(reason: "HTTP status \(challenge.status)"))
            }
        }
    }

    private func fail(_ error: any Error) {
        if case .dialing(let channel?) = phase { channel.close(promise: nil) }
        ended(DialFailure.end(for: error))
    }

    // MARK: - For the handler

    /// Whether nothing more should be read for now.
    var isFull: Bool { receiver.isFull }

    func received(_ buffer: ByteBuffer, endsMessage: Bool) {
        guard case .open(let handler) = phase else { return }
        do {
            try receiver.receive(buffer)
            if endsMessage { receiver.endMessage() }
        } catch {
            ended(.failed(reason: "\(error)"))
            handler.close(code: .messageTooLarge)
        }
    }

    /// Hands on what this read has brought.
    func flush() {
        if case .open = phase { receiver.flush() }
    }

    /// The connection ended by itself.
    func ended(_ end: TransportEnd) {
        if case .ended = phase { return }
        receiver.flush()
        phase = .ended
        events(.closed(end))
    }
}
