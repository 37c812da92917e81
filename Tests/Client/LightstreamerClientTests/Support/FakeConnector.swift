internal import LightstreamerClient
internal import Synchronization
internal import TLCP

@testable internal import TLCPTransports

/// Connections without a network: the test receives each one that is opened, and acts as the server.
final class FakeConnector: TransportConnector {
    private let opened: AsyncStream<FakeLink>
    private let continuation: AsyncStream<FakeLink>.Continuation
    private let ends: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init() {
        (opened, continuation) = AsyncStream.makeStream()
        (ends, end) = AsyncStream.makeStream()
    }

    func open(_ order: ConnectionRequest, events: @escaping @Sendable (TransportEvent) -> Void) -> any Transport {
        let link = FakeLink(order, events)
        continuation.yield(link)
        return link
    }

    func shutDown() async {
        continuation.finish()
        end.finish()
    }

    /// The next connection that the client opens.
    func next() async -> FakeLink? {
        var iterator = opened.makeAsyncIterator()
        return await iterator.next()
    }

    /// Waits until the client has shut the connector down.
    func isShutDown() async {
        for await _ in ends {}
    }
}

/// One connection, from the server's point of view.
final class FakeLink: Transport {
    let order: ConnectionRequest
    private let events: @Sendable (TransportEvent) -> Void
    private let messages: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let unhandled = Mutex(0)

    init(_ order: ConnectionRequest, _ events: @escaping @Sendable (TransportEvent) -> Void) {
        self.order = order
        self.events = events
        (messages, continuation) = AsyncStream.makeStream()
    }

    func send(_ message: [UInt8]) { continuation.yield(String(decoding: message, as: UTF8.self)) }

    func handled(_ byteCount: Int) { unhandled.withLock { $0 -= byteCount } }

    func close() { continuation.finish() }

    func release() { close() }

    /// The connection is open, and the server sends lines.
    func open(_ lines: String...) {
        events(.opened)
        if !lines.isEmpty { say(lines) }
    }

    /// The server sends lines.
    func say(_ lines: String...) { say(lines) }

    private func say(_ lines: [String]) {
        let count = lines.reduce(0) { $0 + $1.utf8.count + 2 }
        unhandled.withLock { $0 += count }
        events(.received(LineBatch(lines: lines.map { Array($0.utf8)[...] }, byteCount: count)))
    }

    /// The server sends bytes of a line, but not its end.
    func sayPart(byteCount: Int) {
        unhandled.withLock { $0 += byteCount }
        events(.received(LineBatch(lines: [], byteCount: byteCount)))
    }

    /// The server reads too little, or enough again.
    func becomes(writable isWritable: Bool) { events(.writable(isWritable)) }

    /// The connection ends.
    func end(_ end: TransportEnd) { events(.closed(end)) }

    /// The next message that the client sends; nil once it has closed the connection.
    func heard() async -> String? {
        var iterator = messages.makeAsyncIterator()
        return await iterator.next()
    }

    /// Bytes not released from the receive window.
    var pendingBytes: Int { unhandled.withLock { $0 } }
}
