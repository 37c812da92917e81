internal import NIOCore
internal import NIOTLS

/// Waits for the end of a TLS handshake, then leaves the pipeline.
final class TLSHandshakeGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>

    init(done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { done.fail(DialFailure.closedEarly("TLS handshake")) }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("TLS handshake"))
        context.fireChannelInactive()
    }
}
