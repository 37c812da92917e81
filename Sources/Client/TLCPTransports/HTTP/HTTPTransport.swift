internal import NIOCore
internal import NIOHTTP1
internal import TLCP

/// One HTTP request with its response: a stream, a poll or a control request.
///
/// `@unchecked Sendable`: all state is touched on `loop` alone; the methods of `Transport` hop there.
final class HTTPTransport: Transport, @unchecked Sendable {
    private enum State {
        /// The transport is new, or a challenge awaits its answer. *Leaves to* `dialing`, `exchanging`, `ended`.
        case waiting
        /// A channel is being opened; not nil once it can be closed. *Leaves to* `exchanging`, `ended`.
        case dialing((any Channel)?)
        /// The request was sent; `hasHead` once the response has begun. *Leaves to* `waiting`, `draining`, `ended`.
        case exchanging(HTTPChannelHandler, hasHead: Bool)
        /// The rest of the response is discarded, up to a number of bytes. *Leaves to* `ended`.
        case draining(HTTPChannelHandler, remaining: Int)
        /// Final.
        case ended
    }

    /// How many bytes of a response are discarded, and for how long, to keep its channel usable.
    private static let maxDrain = 65_536
    private static let drainTime = TimeAmount.seconds(2)

    private let request: ConnectionRequest
    private let shared: SocketContext
    private let loop: any EventLoop
    private let events: @Sendable (TransportEvent) -> Void
    private let receiver: LineReceiver
    private var state = State.waiting
    private var isReusable = false
    /// The challenges so far. A proxy and a server behind the proxy each have credentials of their own.
    private var failures: [CredentialStore.ProtectionSpace: Int] = [:]

    init(_ request: ConnectionRequest, _ shared: SocketContext, events: @escaping @Sendable (TransportEvent) -> Void) {
        self.request = request
        self.shared = shared
        self.events = events
        loop = shared.dialer.loop
        receiver = LineReceiver(shared.settings, emit: events)
    }

    // MARK: - Transport

    func send(_ message: [UInt8]) {}

    func handled(_ byteCount: Int) {
        loop.execute { [self] in
            guard receiver.handled(byteCount), case .exchanging(let handler, _) = state else { return }
            handler.resumeReading()
        }
    }

    func close() { loop.execute { [self] in abandon() } }

    func release() { loop.execute { [self] in drain() } }

    // MARK: - Request

    /// Starts the exchange; on the loop.
    func start() {
        guard case .waiting = state else { return }
        while let handler = shared.pool.take(key) {
            if begin(handler) { return }
        }
        dial()
    }

    private var key: KeepAlivePool.Key {
        KeepAlivePool.Key(endpoint: Endpoint(request), isControl: request.kind == .httpControl)
    }

    private func dial() {
        state = .dialing(nil)
        let limit = shared.settings.timeout(of: request)
        shared.dialer.dial(Endpoint(request), needsTunnel: false, within: limit) { [self] channel in
            if case .dialing = state { state = .dialing(channel) } else { channel.close(promise: nil) }
        }
        .whenComplete { [self] result in
            guard case .dialing = state else {
                if case .success(let channel) = result { channel.close(promise: nil) }
                return
            }
            do {
                let channel = try result.get()
                let handler = HTTPChannelHandler()
                if !request.isSecure { try channel.pipeline.syncOperations.addHandler(TLSAlertDetector()) }
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                try channel.pipeline.syncOperations.addHandler(handler)
                if !begin(handler) { finish(DialFailure.unreachable(DialFailure.closedEarly("connection"))) }
            } catch {
                finish(DialFailure.unreachable(error))
            }
        }
    }

    /// Sends the request; false if the channel is closed already, so that no byte was written.
    private func begin(_ handler: HTTPChannelHandler) -> Bool {
        guard handler.isActive else { return false }
        state = .exchanging(handler, hasHead: false)
        handler.begin(self, head: shared.heads.http(request), body: request.body)
        return true
    }

    // MARK: - Response

    var isFull: Bool { receiver.isFull }

    func received(_ head: HTTPResponseHead) {
        guard case .exchanging(let handler, _) = state else { return }
        state = .exchanging(handler, hasHead: true)
        isReusable = head.isKeepAlive
        shared.settings.cookies.receive(setCookie: head.headers["set-cookie"], from: request.cookieOrigin)
        if (200..<300).contains(head.status.code) { return events(.opened) }
        state = .waiting
        handler.close()
        let challenge = HTTPChallenge(head, request, shared.settings.proxy)
        let failed = challenge.map { failures[$0.space, default: 0] } ?? 0
        if let challenge { failures[challenge.space] = failed + 1 }
        shared.dialer.answer(challenge, failures: failed).whenSuccess { [self] isAnswered in
            guard case .waiting = state else { return }
            if isAnswered { dial() } else { finish(DialFailure.end(httpStatus: Int(head.status.code))) }
        }
    }

    func received(_ buffer: ByteBuffer) {
        switch state {
        case .exchanging(let handler, hasHead: true):
            do {
                try receiver.receive(buffer)
            } catch {
                fail(handler, DialFailure.end(for: error))
            }
        case .draining(let handler, let remaining):
            let left = remaining - buffer.readableBytes
            if left >= 0 { state = .draining(handler, remaining: left) } else { abandon() }
        case .waiting, .dialing, .exchanging, .ended: break
        }
    }

    func receivedEnd() {
        switch state {
        case .exchanging(let handler, _):
            receiver.flush()
            giveBack(handler)
            finish(.completed)
        case .draining(let handler, _):
            state = .ended
            giveBack(handler)
        case .waiting, .dialing, .ended: break
        }
    }

    /// Delivers the lines of this read.
    func flush() { if case .exchanging = state { receiver.flush() } }

    /// The channel failed, or the peer closed it.
    func broke(_ error: any Error) {
        switch state {
        case .exchanging(let handler, _):
            // A request is never repeated here, even if an idle channel was closed while it was being used again: the
            // server may have processed it (RFC 9110 section 9.2.2).
            receiver.flush()
            fail(handler, DialFailure.end(for: error))
        case .draining: state = .ended
        case .waiting, .dialing, .ended: break
        }
    }

    // MARK: - End

    private func giveBack(_ handler: HTTPChannelHandler) {
        if isReusable, handler.isRequestWritten { shared.pool.put(handler, key) } else { handler.close() }
    }

    private func fail(_ handler: HTTPChannelHandler, _ end: TransportEnd) {
        handler.close()
        finish(end)
    }

    private func finish(_ end: TransportEnd) {
        state = .ended
        events(.closed(end))
    }

    private func abandon() {
        switch state {
        case .dialing(let channel): channel?.close(promise: nil)
        case .exchanging(let handler, _), .draining(let handler, _): handler.close()
        case .waiting, .ended: break
        }
        state = .ended
    }

    private func drain() {
        guard case .exchanging(let handler, hasHead: true) = state else { return abandon() }
        state = .draining(handler, remaining: Self.maxDrain)
        handler.resumeReading()
        loop.scheduleTask(in: Self.drainTime) { [self] in
            if case .draining = state { abandon() }
        }
    }
}
