internal import NIOCore

/// The first handler of an HTTP channel without TLS: it recognises a server that speaks TLS on the port, which sends an
/// alert instead of a response. It removes itself at the first bytes.
final class TLSAlertDetector: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether bytes begin with the head of an alert (RFC 8446 section 5.1). No HTTP response begins so.
    static func isAlert(_ bytes: some Sequence<UInt8>) -> Bool { bytes.starts(with: [21, 3]) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if Self.isAlert(unwrapInboundIn(data).readableBytesView) {
            context.fireErrorCaught(DialFailure.encrypted)
        } else {
            context.fireChannelRead(data)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
    }
}
