/// The head of an HTTP request or WebSocket handshake, as it is about to be sent.
public struct OutgoingRequest: Sendable, Equatable {
    /// The method: `POST`, or `GET` for a handshake.
    public let method: String
    /// The host that the request is for.
    public let host: String
    /// Whether it is a WebSocket handshake.
    public let isWebSocketHandshake: Bool
    /// Path and query.
    public var target: String
    /// The headers in order, extra headers and cookies included.
    public var headers: [(name: String, value: String)]

    /// A request.
    package init(
        method: String,
        host: String,
        isWebSocketHandshake: Bool,
        target: String,
        headers: [(name: String, value: String)]
    ) {
        self.method = method
        self.host = host
        self.isWebSocketHandshake = isWebSocketHandshake
        self.target = target
        self.headers = headers
    }

    /// Requests are equal when all that they send is equal.
    public static func == (left: OutgoingRequest, right: OutgoingRequest) -> Bool {
        left.method == right.method && left.host == right.host && left.target == right.target
            && left.isWebSocketHandshake == right.isWebSocketHandshake
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// Changes a request right before it is sent. Called on a network thread: must be quick and must not block.
public typealias RequestDecorator = @Sendable (inout OutgoingRequest) -> Void
