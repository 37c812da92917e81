/// Where control and message requests go.
enum ControlRoute: Equatable {
    /// They wait.
    case closed
    /// On the WebSocket that carries the stream.
    case socket(ConnectionID)
    /// By HTTP requests of their own.
    case http
}
