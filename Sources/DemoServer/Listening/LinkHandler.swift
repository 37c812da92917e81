internal import NIOCore

/// The connection of a link, for the driver; used on the event loop only.
protocol LinkOutlet: AnyObject {
    /// Sends a whole response to the HTTP request.
    func respond(_ answer: HTTPAnswer)
    /// Begins an HTTP response of unknown length.
    func openStream()
    /// Writes bytes at once; a fragment is continued by the next write.
    func write(_ bytes: [UInt8], isFragment: Bool)
    /// Ends an HTTP response.
    func endStream(closesSocket: Bool)
    /// Closes a WebSocket with a code.
    func close(code: Int)
    /// Breaks the connection.
    func cut()
    /// Reads nothing more from the connection.
    func stopReading()
}

/// The common part of the handlers of HTTP connections and WebSockets: they report the end and the writability of their
/// connection to the driver, and do not read while the peer does not accept what they write. A connection whose peer closes its
/// side ends, after a response that is due.
protocol LinkHandler: ChannelInboundHandler, LinkOutlet {
    var driver: ServerDriver { get }
    /// The handler's place in its pipeline; nil once it was removed.
    var context: ChannelHandlerContext? { get set }
    /// The open link; nil if there is none.
    var link: LinkID? { get set }
    /// Whether the driver has ended reading for good.
    var isReadingStopped: Bool { get set }

    /// The peer has closed its side of the connection.
    func inputClosed(_ context: ChannelHandlerContext)
}

extension LinkHandler {
    /// Reports the end of the link to the driver, once.
    func endLink() {
        if let link { driver.closed(link) }
        link = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        endLink()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { inputClosed(context) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        if let link { driver.writabilityChanged(of: link, to: isWritable) }
        if !isReadingStopped { context.channel.setOption(.autoRead, value: isWritable).whenComplete { _ in } }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func cut() {
        link = nil
        context?.close(promise: nil)
    }

    func stopReading() {
        isReadingStopped = true
        context?.channel.setOption(.autoRead, value: false).whenComplete { _ in }
    }
}
