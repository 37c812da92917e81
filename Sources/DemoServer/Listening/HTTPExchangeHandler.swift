internal import NIOCore
internal import NIOHTTP1

/// One HTTP connection: collects its requests, one after the other, and writes the responses of the machine.
final class HTTPExchangeHandler: LinkHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Between two requests. *Leaves to* `receiving`.
        case idle
        /// A head was received, its body is being received. *Leaves to* `answering`, or `discarding` if it is too long.
        case receiving(HTTPRequestHead, body: [UInt8])
        /// The request was answered before its end; the rest of it is dropped.
        case discarding
        /// The machine has the request. *Leaves to* `idle`, or to the end of the connection.
        case answering(HTTPRequestHead)
    }

    let driver: ServerDriver
    var context: ChannelHandlerContext?
    var link: LinkID?
    var isReadingStopped = false
    private var isInputClosed = false
    private let switcher: WebSocketSwitch
    private let openedAt: Duration
    private var state = State.idle
    private var deadline: Scheduled<Void>?

    init(driver: ServerDriver, switcher: WebSocketSwitch) {
        self.driver = driver
        self.switcher = switcher
        openedAt = driver.now
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        setDeadline(within: driver.configuration.timings.idleHTTP)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .idle):
            setDeadline(within: driver.configuration.timings.slowRequest)
            state = .receiving(head, body: [])
            sendContinue(head, context)
        case (.body(let bytes), .receiving(let head, var body)):
            guard body.count + bytes.readableBytes <= driver.configuration.limits.request else {
                state = .discarding
                write(HTTPAnswer(status: 413, closesSocket: true), to: head)
                return
            }
            state = .idle
            body.append(contentsOf: bytes.readableBytesView)
            state = .receiving(head, body: body)
        case (.end, .receiving(let head, let body)):
            deadline?.cancel()
            state = .answering(head)
            dispatch(head, body, context)
        case (.head, _), (.body, _), (.end, _):
            return
        }
    }

    func inputClosed(_ context: ChannelHandlerContext) {
        isInputClosed = true
        guard case .answering = state else { return context.close(promise: nil) }
        // After the driver has performed the last request: a response closes the connection itself, a stream goes on until here.
        context.eventLoop.assumeIsolated().execute { [self] in
            if case .answering = state { context.close(promise: nil) }
        }
    }

    /// Sends `100 Continue` if the client waits for it before it sends the body.
    private func sendContinue(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard head.version == .http1_1, head.headers[canonicalForm: "Expect"].contains("100-continue") else { return }
        write(HTTPResponseHead(version: head.version, status: .continue), context)
    }

    private func dispatch(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        if head.method == .OPTIONS { return write(HTTPAnswer(), to: head) }
        if WebSocketSwitch.isWanted(by: head) { return switchOver(head, context) }
        let target = RequestTarget(head.uri)
        let request = HTTPRequestText(method: head.method.rawValue, path: target.path, query: target.query, body: body)
        let peer = context.channel.remoteAddress?.ipAddress ?? ""
        link = driver.requested(request, self, from: peer, connectedAt: openedAt)
    }

    private func switchOver(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        if let status = switcher.refusal(of: head) {
            return write(HTTPAnswer(status: status, closesSocket: true), to: head)
        }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        switcher.perform(head, context, from: self).whenFailure { _ in
            bound.value.write(HTTPAnswer(status: 400, closesSocket: true), to: head)
        }
    }

    /// Writes the head of a stream, of `100 Continue`, or of the response that ends HTTP on this connection.
    func write(_ head: HTTPResponseHead, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    func respond(_ answer: HTTPAnswer) {
        guard case .answering(let head) = state else { return }
        write(answer, to: head)
    }

    func openStream() {
        guard case .answering(let request) = state, let context else { return }
        write(ResponseHeads.stream(for: request, date: driver.date), context)
    }

    func write(_ bytes: [UInt8], isFragment: Bool) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
    }

    func endStream(closesSocket: Bool) {
        guard case .answering(let request) = state else { return }
        // Before HTTP/1.1 a response without a length ends with its connection.
        finish(closesSocket: closesSocket || !request.isKeepAlive || request.version != .http1_1)
    }

    func close(code: Int) { cut() }

    private func write(_ answer: HTTPAnswer, to request: HTTPRequestHead) {
        guard let context else { return }
        let closes = answer.closesSocket || !request.isKeepAlive
        let head = ResponseHeads.short(answer, for: request, closes: closes, date: driver.date)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !answer.body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        }
        finish(closesSocket: closes)
    }

    private func finish(closesSocket: Bool) {
        guard let context else { return }
        link = nil
        if case .answering = state { state = .idle }
        let closesSocket = closesSocket || isInputClosed
        // Closing both directions while the client still sends would cause a reset, which discards the response.
        let mode: CloseMode = if case .discarding = state { .output } else { .all }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        let written = context.eventLoop.makePromise(of: Void.self)
        if closesSocket { written.futureResult.whenComplete { _ in bound.value.close(mode: mode, promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        if !closesSocket {
            setDeadline(within: driver.configuration.timings.idleHTTP)
        } else if mode == .output {
            setDeadline(within: .seconds(2))
        }
    }

    /// Closes the connection unless a request, or the rest of one, is received in time.
    private func setDeadline(within time: Duration) {
        deadline?.cancel()
        guard let context else { return }
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            context.close(promise: nil)
        }
    }
}

/// The target of an HTTP request: its path and its query.
struct RequestTarget: Sendable, Hashable {
    let path: String
    /// The part after the `?`; empty if there is none.
    let query: String

    /// Parses the target of a request line, which proxies and some clients send as an absolute URI.
    init(_ uri: String) {
        var target = uri[...]
        for scheme in ["http://", "https://"] where target.prefix(scheme.count).lowercased() == scheme {
            let authority = target.dropFirst(scheme.count)
            target = authority.firstIndex { $0 == "/" || $0 == "?" }.map { authority[$0...] } ?? "/"
            break
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? String(parts[1]) : ""
    }
}
