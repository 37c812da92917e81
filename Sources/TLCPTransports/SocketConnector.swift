internal import NIOCore

/// Makes connections over sockets, all of one client on one network thread.
package final class SocketConnector: TransportConnector {
    /// How long connections that are being closed may take before they are cut.
    private static let patience = TimeAmount.seconds(3)

    private let loop: any EventLoop
    private let registry = ChannelRegistry()
    private let shared: SocketContext

    /// A connector. Throws for TLS settings that cannot be used.
    package init(_ settings: SocketSettings) throws(TLSSettingsError) {
        // The system's authorities are read when the first TLS connection needs them.
        let contexts = try TLSContexts(settings.tls, isNeeded: settings.tls != TLSSettings())
        let credentials = Credentials(proxy: settings.proxy)
        loop = settings.loops.next()
        let dialer = Dialer(settings, contexts: contexts, credentials: credentials, registry: registry, loop: loop)
        shared = SocketContext(settings, credentials: credentials, dialer: dialer)
    }

    /// Starts to open a connection.
    package func open(
        _ order: ConnectionRequest,
        events: @escaping @Sendable (TransportEvent) -> Void
    ) -> any Transport {
        switch order.kind {
        case .webSocket:
            let transport = WebSocketTransport(order, shared, events: events)
            loop.execute { transport.start() }
            return transport
        case .httpStream, .httpPoll, .httpControl:
            let transport = HTTPTransport(order, shared, events: events)
            loop.execute { transport.start() }
            return transport
        }
    }

    /// Closes idle connections, waits for those that are being closed, and cuts what takes too long.
    package func shutDown() async {
        registry.close()
        loop.execute { [shared] in shared.pool.close() }
        let cut = loop.scheduleTask(in: Self.patience) { [registry] in registry.cut() }
        await registry.drained()
        cut.cancel()
    }
}
