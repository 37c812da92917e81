internal import NIOCore
internal import NIOHTTP1
internal import NIOWebSocket

/// Upgrades an HTTP connection to a WebSocket, after any number of requests.
///
/// NIO's own upgrade handler examines the first request of a connection only; clients that keep connections alive
/// request a WebSocket on one that has served requests before.
final class WebSocketSwitch {
    private let driver: ServerDriver
    /// The HTTP handlers without the decoder, in the order of the pipeline.
    private let handlers: [any RemovableChannelHandler]
    /// The decoder of HTTP requests; removed last, when it forwards the bytes behind the request that it has read already.
    private let decoder: any RemovableChannelHandler

    /// A switch for handlers that are in the pipeline.
    init(driver: ServerDriver, handlers: [any RemovableChannelHandler], decoder: any RemovableChannelHandler) {
        self.driver = driver
        self.handlers = handlers
        self.decoder = decoder
    }

    /// Whether the request is one for a WebSocket. `Upgrade` counts only if `Connection` names it: proxies without support
    /// for WebSockets may pass on `Upgrade` alone.
    static func isWanted(by head: HTTPRequestHead) -> Bool {
        head.headers[canonicalForm: "Connection"].contains { $0.lowercased() == "upgrade" }
            && head.headers[canonicalForm: "Upgrade"].contains { $0.lowercased() == "websocket" }
    }

    /// The status of the refusal; nil if the WebSocket is granted.
    func refusal(of head: HTTPRequestHead) -> Int? {
        let path = RequestTarget(head.uri).path
        let known = driver.configuration.pathPrefix + "/lightstreamer"
        guard path == known || path == known + "/" else { return 404 }
        guard head.method == .GET else { return 405 }
        return driver.webSocketRequested()
    }

    /// Replaces all handlers, also the one that received the request, by the handler of the WebSocket. The future fails, with
    /// nothing changed, if the handshake is not well-formed.
    func perform(
        _ head: HTTPRequestHead,
        _ context: ChannelHandlerContext,
        from handler: HTTPExchangeHandler
    ) -> EventLoopFuture<Void> {
        let upgrader = upgrader()
        let channel = context.channel
        let bound = NIOLoopBound((switcher: self, context: context, handler: handler), eventLoop: context.eventLoop)
        return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
            .flatMap { headers in
                let (switcher, context, handler) = bound.value
                var response = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
                response.headers.replaceOrAdd(name: "Connection", value: "Upgrade")
                response.headers.replaceOrAdd(name: "Upgrade", value: "websocket")
                handler.write(response, context)
                let pipeline = channel.pipeline.syncOperations
                for handler in switcher.handlers { pipeline.removeHandler(handler, promise: nil) }
                return upgrader.upgrade(context: context, upgradeRequest: head)
            }
            .map {
                let (switcher, _, handler) = bound.value
                let pipeline = channel.pipeline.syncOperations
                pipeline.removeHandler(handler, promise: nil)
                pipeline.removeHandler(switcher.decoder, promise: nil)
            }
    }

    private func upgrader() -> NIOWebSocketServerUpgrader {
        let driver = NIOLoopBound(driver, eventLoop: driver.loop)
        return NIOWebSocketServerUpgrader(
            maxFrameSize: self.driver.configuration.limits.request,
            automaticErrorHandling: true,
            shouldUpgrade: { channel, head in
                channel.eventLoop.makeSucceededFuture(WebSocketSwitch.headers(granting: head))
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let subprotocol = WebSocketSwitch.subprotocol(in: head)
                    let handler = WebSocketServerHandler(driver: driver.value, subprotocol: subprotocol)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
        )
    }

    private static func headers(granting head: HTTPRequestHead) -> HTTPHeaders {
        var headers = HTTPHeaders()
        if let name = subprotocol(in: head) { headers.add(name: "Sec-WebSocket-Protocol", value: name) }
        if let origin = head.headers.first(name: "Origin") {
            headers.add(name: "Access-Control-Allow-Origin", value: origin)
            headers.add(name: "Access-Control-Allow-Credentials", value: "true")
        }
        return headers
    }

    /// The first offered subprotocol that is one of TLCP.
    private static func subprotocol(in head: HTTPRequestHead) -> String? {
        head.headers[canonicalForm: "Sec-WebSocket-Protocol"]
            .map(String.init)
            .first { $0.hasPrefix("TLCP-") && $0.hasSuffix(".lightstreamer.com") }
    }
}
