internal import NIOCore

/// Idle channels of one client that can carry another exchange. Used on the client's thread alone.
///
/// Control requests and streams never share a channel, so that neither waits for the other.
final class KeepAlivePool {
    /// What idle channels are good for.
    struct Key: Hashable {
        let endpoint: Endpoint
        let isControl: Bool
    }

    /// How long a channel is kept idle; servers close theirs after a time of that order.
    private static let idleTime = TimeAmount.seconds(30)
    /// How many idle channels are kept for one purpose.
    private static let maxIdle = 2

    private struct Idle {
        let handler: HTTPChannelHandler
        let expiry: Scheduled<Void>
    }

    private let loop: any EventLoop
    private var idle: [Key: [Idle]] = [:]
    private var isClosed = false

    init(loop: any EventLoop) { self.loop = loop }

    /// A channel that waits, the youngest; nil: none.
    func take(_ key: Key) -> HTTPChannelHandler? {
        guard let youngest = idle[key]?.popLast() else { return nil }
        youngest.expiry.cancel()
        return youngest.handler
    }

    /// Keeps a channel whose exchange is over.
    func put(_ handler: HTTPChannelHandler, _ key: Key) {
        handler.end()
        guard !isClosed, idle[key, default: []].count < Self.maxIdle else { return handler.close() }
        let expiry = loop.assumeIsolated().scheduleTask(in: Self.idleTime) { [weak self] in
            self?.remove(handler, key)
            handler.close()
        }
        handler.lost = { [weak self, weak handler] in
            if let handler { self?.remove(handler, key) }
        }
        idle[key, default: []].append(Idle(handler: handler, expiry: expiry))
    }

    /// Closes all channels, and each one given back from now on.
    func close() {
        isClosed = true
        let all = idle.values.joined()
        idle = [:]
        for idle in all {
            idle.expiry.cancel()
            idle.handler.close()
        }
    }

    private func remove(_ handler: HTTPChannelHandler, _ key: Key) {
        guard let index = idle[key]?.firstIndex(where: { $0.handler === handler }) else { return }
        idle[key]?.remove(at: index).expiry.cancel()
    }
}
