internal import NIOCore
internal import NIOHTTP1

/// The last handler of an HTTP/1.1 client channel; it carries one exchange after another.
final class HTTPChannelHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The present exchange; nil while the channel is idle. The exchange resets it by `end()` or `close()`.
    private var exchange: HTTPTransport?
    /// Called when the peer closes an idle channel, or sends bytes on it.
    var lost: (() -> Void)?
    /// Whether the complete request has been written.
    private(set) var isRequestWritten = false
    private var context: ChannelHandlerContext?
    private var isReadPending = false

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: - For the exchange

    var isActive: Bool { context?.channel.isActive ?? false }

    /// Sends a request; its response goes to the exchange. The channel must be open.
    func begin(_ exchange: HTTPTransport, head: HTTPRequestHead, body: [UInt8]) {
        guard let context else { return }
        self.exchange = exchange
        lost = nil
        isRequestWritten = false
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { [weak self, weak exchange] in
            switch $0 {
            case .success: self?.isRequestWritten = true
            case .failure(let error): exchange?.broke(error)
            }
        }
    }

    /// Ends the exchange; the channel becomes idle.
    func end() {
        exchange = nil
        resumeReading()
    }

    func close() {
        exchange = nil
        context?.close(promise: nil)
    }

    /// Continues to read after `isFull` has suspended it.
    func resumeReading() {
        guard isReadPending else { return }
        isReadPending = false
        context?.read()
    }

    // MARK: - Pipeline

    func read(context: ChannelHandlerContext) {
        if exchange?.isFull ?? false { isReadPending = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let exchange else {
            lost?()
            return context.close(promise: nil)
        }
        switch unwrapInboundIn(data) {
        case .head(let head): exchange.received(head)
        case .body(let buffer): exchange.received(buffer)
        case .end: exchange.receivedEnd()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        exchange?.flush()
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        exchange?.broke(DialFailure.closedEarly("connection"))
        lost?()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        exchange?.broke(error)
        lost?()
        context.close(promise: nil)
    }
}
