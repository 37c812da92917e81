internal import NIOCore

/// The idle channels of one client. Used on the client's thread only.
///
/// Control requests and streams use separate channels, so that neither waits for the other.
final class KeepAlivePool {
    /// The exchanges that an idle channel can carry.
    struct Key: Hashable {
        let endpoint: Endpoint
        let isControl: Bool
    }

    /// How long a channel stays idle before it is closed.
    private static let idleTime = TimeAmount.seconds(30)
    /// The maximum number of idle channels with one key.
    private static let maxIdle = 2

    private struct Idle {
        let handler: HTTPChannelHandler
        let expiry: Scheduled<Void>
    }

    private let loop: any EventLoop
    private var idle: [Key: [Idle]] = [:]
    private var isClosed = false

    init(loop: any EventLoop) { self.loop = loop }

    /// Takes the most recently used channel; nil if there is none.
    func take(_ key: Key) -> HTTPChannelHandler? {
        guard let youngest = idle[key]?.popLast() else { return nil }
        youngest.expiry.cancel()
        return youngest.handler
    }

    /// Adds a channel after its exchange.
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

    /// Closes all channels, and those added later.
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
