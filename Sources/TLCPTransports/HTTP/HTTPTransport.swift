internal import NIOCore
internal import NIOHTTP1

/// One HTTP request with its response: a stream, a poll or a control request.
///
/// `@unchecked Sendable`: all state is touched on `loop` alone; the methods of `Transport` hop there.
final class HTTPTransport: Transport, @unchecked Sendable {
    private enum Phase {
        /// Nothing has been done yet, or a challenge is being answered.
        case waiting
        /// A channel is being opened; it is there to be closed as soon as there is one.
        case dialing((any Channel)?)
        /// The request is out; `hasHead` once the response began.
        case exchanging(HTTPChannelHandler, isReused: Bool, hasHead: Bool)
        /// The rest of the response is thrown away, up to this many bytes.
        case draining(HTTPChannelHandler, remaining: Int)
        /// Nothing follows.
        case ended
    }

    /// How much of a response is thrown away to save its channel, and for how long.
    private static let maxDrain = 65_536
    private static let drainTime = TimeAmount.seconds(2)

    let traits: TransportTraits
    private let order: ConnectionRequest
    private let shared: SocketContext
    private let loop: any EventLoop
    private let events: @Sendable (TransportEvent) -> Void
    private let receiver: LineReceiver
    private var phase = Phase.waiting
    private var isReusable = false
    private var failures = 0

    init(_ order: ConnectionRequest, _ shared: SocketContext, events: @escaping @Sendable (TransportEvent) -> Void) {
        self.order = order
        self.shared = shared
        self.events = events
        loop = shared.dialer.loop
        traits = TransportTraits(isMultiplexed: false, isStreaming: order.kind == .httpStream)
        receiver = LineReceiver(
            maxLineLength: shared.settings.maxLineLength,
            window: shared.settings.receiveWindow,
            emit: events
        )
    }

    // MARK: - Transport

    func send(_ message: [UInt8]) {}

    func handled(_ byteCount: Int) {
        loop.execute { [self] in
            guard receiver.handled(byteCount), case .exchanging(let handler, _, _) = phase else { return }
            handler.resumeReading()
        }
    }

    func close() { loop.execute { [self] in abandon() } }

    func release() { loop.execute { [self] in drain() } }

    // MARK: - Request

    /// Begins; on the loop.
    func start() {
        guard case .waiting = phase else { return }
        if let handler = shared.pool.take(key) { return begin(handler, isReused: true) }
        dial()
    }

    private var key: KeepAlivePool.Key {
        KeepAlivePool.Key(endpoint: Endpoint(order), isControl: order.kind == .httpControl)
    }

    private func dial() {
        phase = .dialing(nil)
        shared.dialer.dial(Endpoint(order), needsTunnel: false) { [self] channel in
            if case .dialing = phase { phase = .dialing(channel) } else { channel.close(promise: nil) }
        }
        .whenComplete { [self] result in
            guard case .dialing = phase else {
                if case .success(let channel) = result { channel.close(promise: nil) }
                return
            }
            do {
                let channel = try result.get()
                let handler = HTTPChannelHandler()
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(handler)
                begin(handler, isReused: false)
            } catch {
                finish(DialFailure.end(for: error))
            }
        }
    }

    private func begin(_ handler: HTTPChannelHandler, isReused: Bool) {
        phase = .exchanging(handler, isReused: isReused, hasHead: false)
        handler.begin(self, head: shared.heads.http(order), body: order.body)
    }

    // MARK: - Response

    /// Whether nothing more should be read for now.
    var isFull: Bool { receiver.isFull }

    func received(_ head: HTTPResponseHead) {
        guard case .exchanging(let handler, let isReused, _) = phase else { return }
        phase = .exchanging(handler, isReused: isReused, hasHead: true)
        isReusable = head.isKeepAlive
        shared.settings.cookies.receive(setCookie: head.headers["set-cookie"], from: order.cookieOrigin)
        if (200..<300).contains(head.status.code) { return events(.opened) }
        if let challenge = HTTPChallenge(head, order, shared), failures < Dialer.maxFailures {
            return answer(challenge, handler)
        }
        fail(handler, .failed(reason: "HTTP status \(head.status.code)"))
    }

    func received(_ buffer: ByteBuffer) {
        switch phase {
        case .exchanging(let handler, _, hasHead: true):
            do {
                try receiver.receive(buffer)
            } catch {
                fail(handler, .failed(reason: "\(error)"))
            }
        case .draining(let handler, let remaining):
            let left = remaining - buffer.readableBytes
            if left >= 0 { phase = .draining(handler, remaining: left) } else { abandon() }
        case .waiting, .dialing, .exchanging, .ended: break
        }
    }

    func receivedEnd() {
        switch phase {
        case .exchanging(let handler, _, _):
            receiver.flush()
            giveBack(handler)
            finish(.completed)
        case .draining(let handler, _):
            phase = .ended
            giveBack(handler)
        case .waiting, .dialing, .ended: break
        }
    }

    /// Hands on what this read has brought.
    func flush() {
        if case .exchanging = phase { receiver.flush() }
    }

    /// The channel broke, or was closed by the peer.
    func broke(_ error: any Error) {
        switch phase {
        case .exchanging(_, isReused: true, hasHead: false):
            // The server closed the idle channel at the moment in which it was used again: that is no failure.
            phase = .waiting
            dial()
        case .exchanging(let handler, _, _):
            receiver.flush()
            fail(handler, DialFailure.end(for: error))
        case .draining: phase = .ended
        case .waiting, .dialing, .ended: break
        }
    }

    // MARK: - End

    private func answer(_ challenge: HTTPChallenge, _ handler: HTTPChannelHandler) {
        phase = .waiting
        handler.close()
        shared.credentials.forget(challenge.asker)
        let attempt = failures
        failures += 1
        shared.dialer.ask(challenge.kind, host: challenge.host, port: challenge.port, failures: attempt).whenSuccess {
            [self] in
            guard case .waiting = phase else { return }
            if shared.credentials.take($0, for: challenge.asker) {
                dial()
            } else {
                finish(.failed(reason: "HTTP status \(challenge.status)"))
            }
        }
    }

    private func giveBack(_ handler: HTTPChannelHandler) {
        if isReusable, handler.isRequestWritten { shared.pool.put(handler, key) } else { handler.close() }
    }

    private func fail(_ handler: HTTPChannelHandler, _ end: TransportEnd) {
        handler.close()
        finish(end)
    }

    private func finish(_ end: TransportEnd) {
        phase = .ended
        events(.closed(end))
    }

    private func abandon() {
        switch phase {
        case .dialing(let channel): channel?.close(promise: nil)
        case .exchanging(let handler, _, _), .draining(let handler, _): handler.close()
        case .waiting, .ended: break
        }
        phase = .ended
    }

    private func drain() {
        guard case .exchanging(let handler, _, hasHead: true) = phase else { return abandon() }
        phase = .draining(handler, remaining: Self.maxDrain)
        handler.resumeReading()
        loop.scheduleTask(in: Self.drainTime) { [self] in
            if case .draining = phase { abandon() }
        }
    }
}
