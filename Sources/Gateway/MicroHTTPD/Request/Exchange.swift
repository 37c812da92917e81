internal import Primitives

/// One request, from its request line to its end. Confined to its loop's thread.
final class Exchange {
    /// The phase.
    enum Phase {
        /// The request line was read. *Entered* at the start; *leaves to* `body`, `discarding`, `over`.
        case head
        /// The head is valid; the body is received. *Leaves to* `waiting`, `streaming`, `over`.
        case body
        /// The body is too long, or the head is rejected: the body is read to its end, so that the client reads the
        /// response instead of a broken connection, and discarded. *Leaves to* `over`.
        case discarding(HTTPResponse)
        /// The connection is suspended until the responder answers. *Leaves to* `answering`,
        /// `answeringHead`, `streaming`, `over`.
        case waiting
        /// Resumed with a late answer. *Entered* from `waiting`; *leaves to* `over`.
        case answering(HTTPResponse)
        /// Resumed with the head of a late stream, for `HEAD`. *Entered* from `waiting`; *leaves to* `over`.
        case answeringHead(HTTPStreamHead)
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
    /// The connection of the request.
    let record: ConnectionRecord
    /// The phase.
    var phase = Phase.head
    /// The request target as sent, until the head is checked.
    var target: TargetText?
    /// The checked head, until it is passed to the handler.
    var head: RequestHead?
    /// Handles the complete request, if its head was screened.
    var screened: ((HTTPRequest, HTTPResponder) -> HTTPDecision)?
    /// The responder, while the request waits and the handler retains it.
    weak var responder: HTTPResponder?
    /// The body so far, until it is passed to the handler.
    var body: [UInt8] = []
    /// Bytes reserved for the body in the ledger, until the request is over.
    var reservedBytes = 0
    /// The memory of the response, if that is large, until it is sent.
    var heldResponse: HeldResponse?
    /// When the head or the latest part of the body was received.
    var partTime = Moment.zero
    /// A response is being sent, and not a stream.
    var isResponding = false
    /// Discarded bytes of an overlong body.
    var discarded = 0
    /// True for a request with `HEAD`.
    var wantsOnlyHead = false
    /// True if no bytes after the request may be parsed: its response closes the connection.
    var isLastOnConnection = false
    /// True for HTTP/1.0.
    var isOldVersion = false

    init(id: UInt64, server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: TargetText) {
        self.id = id
        self.server = server
        self.connection = connection
        self.record = record
        self.target = target
    }

    /// Resumes the suspended connection. The caller must not touch the connection or its
    /// descriptor afterwards.
    func resume() {
        server.resume(connection)
    }
}
