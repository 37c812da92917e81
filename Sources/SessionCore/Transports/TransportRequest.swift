/// What the driver needs to know in order to open one connection.
package struct TransportRequest: Sendable, Equatable {
    /// What a connection is for.
    package enum Kind: Sendable, Hashable {
        /// A WebSocket, kept open until the machine closes it.
        case webSocket
        /// An HTTP request whose response is a stream that may last for hours.
        case httpStream
        /// An HTTP request whose response ends by itself: a creation, a poll or a recovery.
        case httpPoll
        /// A short HTTP request beside the stream: control, message or heartbeat.
        case httpControl
    }

    /// An HTTP request as TLCP wants it; always a POST of `text/plain; charset=utf-8`.
    package struct Request: Sendable, Equatable {
        /// Path and query, to be appended to the path prefix of the address; starts with `/lightstreamer/`.
        package var target: String
        /// The body; it may hold the password, so it must not be logged.
        package var body: [UInt8]

        /// A request.
        package init(target: String, body: [UInt8]) {
            self.target = target
            self.body = body
        }
    }

    /// What the connection is for.
    package var kind: Kind
    /// The address to connect to, as an `http` or `https` URL: host, optional port, optional path prefix.
    package var address: String
    /// The WebSocket subprotocol to ask for (`TLCP-2.5.0.lightstreamer.com`); nil for HTTP.
    package var subprotocol: String?
    /// The request to send; nil for a WebSocket.
    package var request: Request?
    /// The user's extra headers that apply to this connection.
    package var headers: [String: String]

    /// An order.
    package init(
        kind: Kind,
        address: String,
        subprotocol: String? = nil,
        request: Request? = nil,
        headers: [String: String] = [:]
    ) {
        self.kind = kind
        self.address = address
        self.subprotocol = subprotocol
        self.request = request
        self.headers = headers
    }
}
