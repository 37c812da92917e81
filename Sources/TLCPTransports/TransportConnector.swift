/// Makes the connections of one client.
package protocol TransportConnector: Sendable {
    /// Starts to open a connection. Events come on a network thread, one at a time, none before this returns or after
    /// `closed`.
    func open(
        _ order: ConnectionRequest,
        events: @escaping @Sendable (TransportEvent) -> Void
    ) -> any Transport
    /// Closes everything that is open, idle keep-alive connections included, and waits until it is.
    func shutDown() async
}

/// All that a connection needs to know.
package struct ConnectionRequest: Sendable, Equatable {
    /// What is spoken on it.
    package enum Kind: Sendable, Hashable {
        /// A WebSocket.
        case webSocket
        /// An HTTP request with a response that may last for hours.
        case httpStream
        /// An HTTP request with a response that ends by itself.
        case httpPoll
        /// A short HTTP request, on a connection kept alive between requests of this kind.
        case httpControl
    }

    /// What is spoken.
    package var kind: Kind
    /// The host name, or a literal address without brackets.
    package var host: String
    /// The port.
    package var port: Int
    /// Whether the connection is encrypted.
    package var isSecure: Bool
    /// Path and query, path prefix of the server address included.
    package var target: String
    /// The WebSocket subprotocol; empty for HTTP.
    package var subprotocol = ""
    /// The HTTP body; it may hold the password, so it must not be logged.
    package var body: [UInt8] = []
    /// The user's extra headers that apply.
    package var headers: [String: String] = [:]
    /// The pins that the server's public key must match one of; empty: none.
    package var pins: [CertificatePin] = []

    /// An order.
    package init(kind: Kind, host: String, port: Int, isSecure: Bool, target: String) {
        self.kind = kind
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.target = target
    }
}
