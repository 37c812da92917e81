internal import Primitives

/// One request, from its request line to its end. Confined to its loop's thread.
final class Exchange {
    enum Phase {
        /// The request line was read. *Entered* at the start; *leaves to* `body`, `discarding`, `over`.
        case head
        /// The head is valid; the body is received. *Leaves to* `waiting`, `streaming`, `over`.
        case body
        /// The body is too long, or there is no memory for it, or the head is rejected: the body is read to its end, so that
        /// the client reads the response instead of a broken connection, and discarded. *Leaves to* `over`.
        case discarding(HTTPResponse)
        /// The connection is suspended until the responder answers. *Leaves to* `answering`, `streaming`, `over`.
        case waiting
        /// Resumed with a late answer. *Entered* from `waiting`; *leaves to* `over`.
        case answering(HTTPResponse)
        /// The connection is suspended and belongs to a stream over TLS. *Leaves to* `over`.
        case streaming
        /// The response is queued, or the stream has ended or left the library. If the access callback is called again,
        /// it closes the connection.
        case over
    }

    /// Unique on its loop.
    let id: UInt64
    /// The server, which outlives its exchanges.
    unowned let server: HTTPServer
    /// The library's connection; valid until the completed-callback.
    let connection: OpaquePointer
    let record: ConnectionRecord
    var phase: Phase
    /// The request target as sent, until the head is checked.
    var target: TargetText?
    /// The checked head, until it is passed to the handler.
    var head: RequestHead?
    /// Handles the complete request, if its head was screened.
    var screened: ((HTTPRequest, HTTPResponder) -> HTTPDecision)?
    /// The responder, while the request waits and the handler retains it.
    weak var responder: HTTPResponder?
    /// The body so far, until it is passed to the handler.
    var body: [UInt8]
    /// Bytes reserved for the body in the ledger, until the request is over, its body is discarded, or the responder holds them.
    var reservedBytes: Int
    /// The caller whose share these bytes count towards; nil: none.
    var bodyCaller: String?
    /// The memory of the response, if that is large, until it is sent.
    var heldResponse: HeldResponse?
    /// When the head or the latest part of the body was received.
    var partTime: Moment
    /// A response is being sent, and not a stream.
    var isResponding: Bool
    /// True if the request needs no body: the body is read, and not kept.
    var ignoresBody: Bool
    /// Discarded bytes of an overlong body, or of one that is not kept.
    var discarded: Int
    /// True for a request with `HEAD`.
    var wantsOnlyHead: Bool
    /// True if no bytes after the request may be parsed: its response closes the connection.
    var isLastOnConnection: Bool
    /// True for HTTP/1.0.
    var isOldVersion: Bool
    /// True if the client may send an equal request next, and has sent nothing behind this one.
    var mayRepeat: Bool
    /// True if the request is the first one of a shared wait.
    var hasSharedWait: Bool

    init(id: UInt64, server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: TargetText) {
        self.id = id
        self.server = server
        self.connection = connection
        self.record = record
        self.target = target
        phase = .head
        body = []
        partTime = .zero
        (reservedBytes, discarded) = (0, 0)
        (isResponding, wantsOnlyHead, isLastOnConnection, isOldVersion) = (false, false, false, false)
        (ignoresBody, mayRepeat, hasSharedWait) = (false, false, false)
    }
}

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
        exchange.phase = .over
        exchange.server.abandon(exchange)
        exchange.server.resume(exchange)
    }

    func end(_ exchange: Exchange) {
        open -= 1
        waiting[exchange.id] = nil
    }
}
