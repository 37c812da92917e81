internal import NIOCore

/// Asks a proxy for a tunnel by `CONNECT`, then leaves the pipeline.
final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: String
    private let authorization: String?
    private let done: EventLoopPromise<Void>
    private var reader = ResponseHeadReader()

    init(to endpoint: Endpoint, authorization: String?, done: EventLoopPromise<Void>) {
        target = endpoint.hostAndPort
        self.authorization = authorization
        self.done = done
    }

    func handlerAdded(context: ChannelHandlerContext) {
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            guard let (head, rest) = try reader.feed(Array(unwrapInboundIn(data).readableBytesView)) else { return }
            switch head.status.code {
            case 200..<300 where rest.isEmpty: done.succeed()
            case 200..<300: throw DialFailure.badAnswer("the proxy sent more than its answer")
            case 407:
                let schemes = head.headers["proxy-authenticate"].compactMap { AuthenticationScheme(header: $0) }
                throw DialFailure.proxyChallenge(schemes)
            default: throw DialFailure.proxyRefused(status: Int(head.status.code))
            }
        } catch {
            done.fail(error)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("proxy"))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { done.fail(DialFailure.closedEarly("proxy")) }
}
