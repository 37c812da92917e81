package import Primitives

/// The purpose of a connection of a session.
package enum TransportKind: Sendable, Hashable {
    /// A WebSocket, kept open until the client closes it.
    case webSocket
    /// An HTTP request whose response is a stream that may last for hours.
    case httpStream
    /// An HTTP request whose response ends by itself: a creation, a poll or a recovery.
    case httpPoll
    /// A short HTTP request beside the stream: control, message or heartbeat.
    case httpControl
}

/// How a connection ended that the client did not close; `status` is that of an HTTP response.
package enum TransportEnd: Sendable, Equatable {
    /// HTTP: the response is complete. WebSocket: the peer closed the connection.
    case completed
    /// The connection failed after it was opened.
    case failed(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// The response has an HTTP status outside 200…299.
    case refused(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// The connection could not be opened, so that nothing was sent.
    case unreachable(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// The server's public key matches none of the pins; no retry can help.
    case identityRejected(reason: String)
}
