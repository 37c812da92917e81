/// The exchanges of all servers of a loop. Confined to the loop's thread.
final class Exchanges {
    /// The first token of the poller for waiting exchanges.
    static let firstToken = UInt64(1) << 63

    private let poller: Poller
    private var waiting: [UInt64: Exchange] = [:]
    private var count: UInt64 = 0
    /// The number of exchanges that have not ended.
    private(set) var open = 0

    init(poller: Poller) { self.poller = poller }

    func begin(
        on server: HTTPServer,
        target: TargetText,
        _ connection: OpaquePointer,
        _ record: ConnectionRecord
    ) -> Exchange {
        count += 1
        open += 1
        return Exchange(id: count, server: server, connection: connection, record: record, target: target)
    }

    /// Registers a suspended exchange until its response, or until its client leaves: the library does not watch a
    /// suspended connection. The descriptor stays in the epoll set after the response, because the next request of a
    /// connection that waited usually waits as well.
    func wait(for exchange: Exchange) {
        waiting[exchange.id] = exchange
        let (record, token) = (exchange.record, Self.firstToken + exchange.id)
        if record.isWatched {
            poller.change(record.descriptor, token: token, .closedOnce)
        } else {
            record.isWatched = poller.add(record.descriptor, token: token, .closedOnce)
        }
    }

    /// Removes the descriptor of a connection, which becomes a stream, from the epoll set.
    func stopWatching(_ record: ConnectionRecord) {
        guard record.isWatched else { return }
        record.isWatched = false
        poller.remove(record.descriptor)
    }

    /// Removes an exchange from the waiting ones and returns it; nil if it is not waiting.
    func take(_ id: UInt64) -> Exchange? { waiting.removeValue(forKey: id) }

    /// Removes all waiting exchanges and returns them.
    func takeAll() -> [Exchange] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }

    /// The client of the waiting exchange with this token closed its connection.
    func abandon(_ token: UInt64) {
        guard let exchange = take(token - Self.firstToken) else { return }
        exchange.abandon()
    }

    func end(_ exchange: Exchange) {
        open -= 1
        waiting[exchange.id] = nil
    }
}
