internal import NIOCore
internal import Synchronization
internal import TLCP

@testable internal import TLCPTransports

/// A connection under test and the sequence of its events. It reports received bytes as handled unless configured
/// otherwise.
final class Opened {
    let transport: any Transport
    private var events: AsyncStream<TransportEvent>.Iterator

    init(_ connector: SocketConnector, _ order: ConnectionRequest, handling: Bool = true) {
        let (stream, continuation) = AsyncStream<TransportEvent>.makeStream()
        events = stream.makeAsyncIterator()
        let box = HandlerBox()
        transport = connector.open(order) { event in
            if handling, case .received(let batch) = event { box.handled(batch.byteCount) }
            continuation.yield(event)
            if case .closed = event { continuation.finish() }
        }
        box.set(transport)
    }

    func next() async -> TransportEvent? { await events.next() }

    /// All lines up to the end, and the end.
    func rest() async -> (lines: [String], end: TransportEnd?) {
        var lines: [String] = []
        while let event = await next() {
            switch event {
            case .opened, .writable: continue
            case .received(let batch): lines += batch.lines.map { String(decoding: $0, as: UTF8.self) }
            case .closed(let end): return (lines, end)
            }
        }
        return (lines, nil)
    }

    /// The next lines; empty at the end.
    func lines() async -> [String] {
        while let event = await next() {
            if case .received(let batch) = event { return batch.lines.map { String(decoding: $0, as: UTF8.self) } }
        }
        return []
    }
}

/// The transport is known only after events may have begun.
private final class HandlerBox: Sendable {
    private let state = Mutex<((any Transport)?, Int)>((nil, 0))

    func set(_ transport: any Transport) {
        let early = state.withLock { state in
            state.0 = transport
            return state.1
        }
        if early > 0 { transport.handled(early) }
    }

    func handled(_ count: Int) {
        let transport = state.withLock { state in
            if state.0 == nil { state.1 += count }
            return state.0
        }
        transport?.handled(count)
    }
}

extension ConnectionRequest {
    /// A request for a server on loopback.
    static func to(
        _ port: Int,
        _ kind: TransportKind = .httpPoll,
        host: String = "127.0.0.1",
        target: String = "/lightstreamer/create_session.txt?LS_protocol=TLCP-2.5.0",
        body: String = "LS_cid=x",
        isSecure: Bool = false
    ) -> ConnectionRequest {
        var order = ConnectionRequest(
            kind: kind,
            host: host,
            port: port,
            isSecure: isSecure,
            target: kind == .webSocket ? "/lightstreamer" : target
        )
        if kind == .webSocket {
            order.subprotocol = "TLCP-2.5.0.lightstreamer.com"
        } else {
            order.body = Array(body.utf8)
        }
        return order
    }
}

extension SocketSettings {
    /// Settings with a jar of their own.
    static func forTests(_ change: (inout SocketSettings) -> Void = { _ in }) -> SocketSettings {
        var settings = SocketSettings(loops: .shared, cookies: CookieJar())
        change(&settings)
        return settings
    }
}

extension TransportEnd {
    static let unauthorized = TransportEnd.refused(reason: "HTTP status 401", kind: .unauthorized, status: 401)
}

extension AsyncStream {
    /// The elements that remain, once the stream is finished.
    func all() async -> [Element] {
        var elements: [Element] = []
        for await element in self { elements.append(element) }
        return elements
    }
}
