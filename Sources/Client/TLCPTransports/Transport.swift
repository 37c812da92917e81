package import TLCP

/// One connection: a WebSocket, or one HTTP request with its response. It exists before it is open, so that it can be
/// closed while it is being opened.
package protocol Transport: AnyObject, Sendable {
    /// Sends one text message over a WebSocket. Does nothing for HTTP, and after the end of the connection.
    func send(_ message: [UInt8])
    /// Releases the bytes of handled batches from the receive window. The receiver may hold back less than half of the
    /// window.
    func handled(_ byteCount: Int)
    /// Closes the connection after the sent bytes are written; no event follows. Repeated calls have no effect.
    func close()
    /// Discards the rest of an HTTP response, up to a limit of bytes and time, so that the connection can be used
    /// again, and closes it beyond that; no event follows. For a WebSocket the same as `close()`.
    func release()
}

/// An event of a transport. Events arrive in order, on a network thread.
package enum TransportEvent: Sendable, Equatable {
    /// The WebSocket is open, or the status of the HTTP response is within 200…299.
    case opened
    /// Lines, or bytes of an incomplete line. The receiver passes `byteCount` to `handled`.
    case received(LineBatch)
    /// Whether the WebSocket takes more messages: not while many bytes are unwritten because the server does not read them.
    case writable(Bool)
    /// The connection ended; the last event. It is not sent after a call of `close()`.
    case closed(TransportEnd)
}

/// Opens the connections of one client.
package protocol TransportConnector: Sendable {
    /// Starts to open a connection. Events arrive on a network thread, one at a time, none of them before this method
    /// returns or after `closed`.
    func open(_ request: ConnectionRequest, events: @escaping @Sendable (TransportEvent) -> Void) -> any Transport
    /// Closes all connections, idle ones included, and waits until they are closed.
    func shutDown() async
}

/// The parameters of a connection.
package struct ConnectionRequest: Sendable, Equatable {
    package var kind: TransportKind
    /// The host name, or a literal address without brackets.
    package var host: String
    package var port: Int
    package var isSecure: Bool
    /// Path and query, including the path prefix of the server address.
    package var target: String
    /// The WebSocket subprotocol; empty for HTTP.
    package var subprotocol = ""
    /// The HTTP body. It can contain a password and must not be logged.
    package var body: [UInt8] = []
    /// The extra headers configured by the user.
    package var headers: [String: String] = [:]
    /// The certificate pins, one of which must match; empty: any certificate.
    package var pins: [CertificatePin] = []
    /// The time for a response, after which the caller closes the connection.
    package var responseTime = Duration.zero

    package init(kind: TransportKind, host: String, port: Int, isSecure: Bool, target: String) {
        self.kind = kind
        self.host = host
        self.port = port
        self.isSecure = isSecure
        self.target = target
    }
}
