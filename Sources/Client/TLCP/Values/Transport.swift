package import Primitives

/// What a connection of a session is for.
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
    /// It failed after it was opened.
    case failed(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// It was answered by an HTTP status outside 200…299.
    case refused(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// It could not be opened, so that nothing was sent.
    case unreachable(reason: String, kind: FailureKind = .other, status: Int? = nil)
    /// The server's public key matches none of the pins; no retry can help.
    case identityRejected(reason: String)
}
