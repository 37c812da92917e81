internal import TLCP

/// One connection: its pending lines, and the faults applied to it.
struct Link: Sendable {
    enum Kind: Sendable, Hashable {
        case webSocket
        /// An HTTP request whose response has not begun.
        case exchange
        /// An HTTP request whose response is a stream.
        case stream
    }

    var kind: Kind
    /// The client's address, as in `CLIENTIP`.
    let peer: String
    /// When the client opened the connection, which for HTTP may have carried other requests since.
    let openedAt: Duration
    /// The TLCP version of the client.
    var version = ProtocolVersion.current
    /// The response to a create or bind of a client with an unsupported version; nil if the version is supported.
    var versionRejection: RequestRejection?

    /// The session that is bound to this connection.
    var stream: SessionHandle?
    /// The session of control requests without `LS_session`; nil after a refused create or bind. WebSocket only.
    var defaultSession: SessionHandle?
    /// The session that was bound last, for binds without `LS_session`; WebSocket only.
    var lastSession: SessionHandle?

    /// Lines not yet passed to the listeners.
    var pending: [UInt8] = []
    /// Where the lines of `pending` end.
    var lineEnds: [Int] = []
    /// How the connection ends once `pending` is written; nil if it stays open.
    var ending: LinkEnding?
    /// Whether the requests of a batch are executed: all responses are written although one of the requests ends the connection.
    var isInBatch = false
    var takesBytes = true
    /// When the last message was received.
    var lastReceived: Duration
    /// When a line of a session or of a response was written last; at first when the session was bound.
    var lastWrite = Duration.zero
    var faults = LinkFaults()

    /// Whether the response is sent as a whole, once complete.
    var isWhole: Bool { kind == .exchange || (kind == .stream && faults.isHeld) }

    /// Why the connection can carry no session; nil: it can.
    var refusal: ServerNotification? {
        if let versionRejection { return versionRejection.notification }
        return stream == nil ? nil : .conErr(code: 69, message: "A streaming is already in place")
    }

    enum WriteResult: Sendable, Hashable {
        case pending
        /// The connection is to be cut after this many bytes of the line; nil: in the middle of the line.
        case cut(after: Int?)
        /// The connection is ending already; the line is dropped.
        case dropped
    }

    /// Adds a line, complete with CR-LF, to the pending ones.
    mutating func append(_ line: [UInt8]) -> WriteResult {
        if ending != nil, !isInBatch { return .dropped }
        if let cut = faults.lineCut { return .cut(after: cut.length) }
        pending.append(contentsOf: line)
        if faults.isOneLinePerWrite { lineEnds.append(pending.count) }
        return .pending
    }

    /// Whether the session may commit more to this connection.
    func isWritable(at now: Duration) -> Bool {
        takesBytes && ending == nil && (faults.stalledUntil.map { $0 <= now } ?? true)
    }
}

/// The server's number for a link: a WebSocket, or one HTTP request with its response.
package struct LinkID: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let rawValue: Int

    package init(_ rawValue: Int) { self.rawValue = rawValue }

    package var description: String { "#\(rawValue)" }

    package static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// How a connection ends, after what is pending.
enum LinkEnding: Sendable, Hashable {
    /// An HTTP response is complete.
    case complete(closesSocket: Bool)
    /// A WebSocket is closed with this code.
    case close(code: Int)
}

extension ProtocolVersion {
    /// Whether clients of this version accept diffs in place of values; since 2.4.
    var hasDiffs: Bool { (major, minor) >= (2, 4) }

    /// Whether `MSGDONE` has a response; since 2.5. Earlier clients may reject a line that has one.
    var hasResponses: Bool { (major, minor) >= (2, 5) }
}
