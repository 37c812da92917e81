/// How a connection ended that the machine did not close itself.
package enum TransportClosure: Sendable, Equatable {
    /// HTTP: the response is complete. WebSocket: the peer closed the connection.
    case completed
    /// It could not be opened, broke, or was answered by an HTTP status outside 200…299.
    case failed(reason: String)
    /// The server's identity matches none of the pins; no retry can help.
    case identityRejected(reason: String)
    /// What arrived cannot be cut into lines of TLCP, such as a line without end.
    case badData(reason: String)
}
