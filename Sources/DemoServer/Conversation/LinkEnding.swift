/// How a connection ends, after what is pending.
enum LinkEnding: Sendable, Hashable {
    /// An HTTP response is complete.
    case complete(closesSocket: Bool)
    /// A WebSocket is closed with this code.
    case close(code: Int)
}
