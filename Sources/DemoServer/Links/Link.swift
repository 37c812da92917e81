internal import TLCP

/// One connection: what waits to be written on it, and what is wrong with it on purpose.
struct Link: Sendable {
    /// The form of the connection.
    enum Kind: Sendable, Hashable {
        /// A WebSocket; its TLCP version.
        case webSocket
        /// An HTTP request whose response has not begun.
        case exchange
        /// An HTTP request whose response is a stream.
        case stream
    }

    /// The form of the connection.
    var kind: Kind
    /// The client's address, as in `CLIENTIP`.
    let peer: String
    /// When the client opened it; an HTTP connection may have carried other requests since.
    let openedAt: Duration
    /// The TLCP version that the client speaks.
    var version = ProtocolVersion.current
    /// The error of the TLCP version, for the response to a create or bind; nil if it is supported.
    var versionProblem: String?

    /// The session whose stream runs here.
    var stream: SessionHandle?
    /// The session that requests without `LS_session` act on; WebSocket only.
    var defaultSession: SessionHandle?

    /// Lines not yet handed to the listeners.
    var pending: [UInt8] = []
    /// Where the lines of `pending` end.
    var lineEnds: [Int] = []
    /// What is to happen once `pending` was written.
    var ending: LinkEnding?
    /// Whether the peer takes bytes.
    var takesBytes = true
    /// When something last arrived here.
    var lastHeard: Duration
    /// What is wrong on purpose.
    var faults = LinkFaults()

    /// What becomes of a line.
    enum LineFate: Sendable, Hashable {
        /// It waits to be written.
        case waits
        /// The connection is to be cut after so many bytes of it; nil: in its middle.
        case isCut(after: Int?)
        /// The connection is at its end already.
        case isLost
    }

    /// Takes a line, complete with CR-LF.
    mutating func take(_ line: [UInt8]) -> LineFate {
        if ending != nil { return .isLost }
        if let cut = faults.lineCut { return .isCut(after: cut.length) }
        pending.append(contentsOf: line)
        if faults.isOneLinePerWrite { lineEnds.append(pending.count) }
        return .waits
    }

    /// Whether the session may commit more to this connection.
    func isWritable(at now: Duration) -> Bool {
        takesBytes && ending == nil && (faults.stalledUntil.map { $0 <= now } ?? true)
    }
}

/// The server's number for one connection as the conversation sees it: a WebSocket, or one HTTP request with its response.
package struct LinkID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number.
    package let rawValue: Int

    /// Wraps a number.
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    /// The number as text.
    package var description: String { "#\(rawValue)" }

    /// Command by number.
    package static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// How a connection ends, after what is pending.
enum LinkEnding: Sendable, Hashable {
    /// An HTTP response is complete.
    case complete(closesSocket: Bool)
    /// A WebSocket is closed with this code.
    case close(code: Int)
}
