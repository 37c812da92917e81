/// One connection: a WebSocket, or one HTTP request with its response. It exists from the moment it is asked for, so
/// it can be closed while it is still being opened.
package protocol Transport: AnyObject, Sendable {
    /// What the connection can do.
    var traits: TransportTraits { get }
    /// Sends one text message. Only where `traits.isMultiplexed`; once the connection is closed it does nothing.
    func send(_ message: [UInt8])
    /// Takes back a batch that was handled: its bytes no longer count against the receive window.
    func handled(_ byteCount: Int)
    /// Closes the connection after what was sent has gone out; no event follows. May be called twice.
    func close()
    /// The rest of an HTTP response is of no interest: lets it end within a bound, so that its socket can be used again,
    /// else closes it; no event follows. For a WebSocket the same as `close()`.
    func release()
}

/// What tells transports apart.
package struct TransportTraits: Sendable, Hashable {
    /// Whether requests can be sent for as long as it is open, beside what it receives.
    package var isMultiplexed: Bool
    /// Whether lines come until the peer or this side has had enough.
    package var isStreaming: Bool

    /// Traits.
    package init(isMultiplexed: Bool, isStreaming: Bool) {
        self.isMultiplexed = isMultiplexed
        self.isStreaming = isStreaming
    }
}

/// What a transport tells, in order, on a network thread.
package enum TransportEvent: Sendable, Equatable {
    /// A WebSocket is usable; an HTTP request was answered by a status inside 200…299.
    case opened
    /// Lines arrived, or bytes that complete no line yet. To be given back by `handled`.
    case received(LineBatch)
    /// The connection ended by itself; the last event. Not told after `close()`.
    case closed(TransportEnd)
}

/// Lines that arrived together.
package struct LineBatch: Sendable, Equatable {
    /// The lines without their CR-LF; all slices of few buffers.
    package var lines: [ArraySlice<UInt8>]
    /// How many bytes came from the network for them.
    package var byteCount: Int

    /// A batch.
    package init(lines: [ArraySlice<UInt8>], byteCount: Int) {
        self.lines = lines
        self.byteCount = byteCount
    }
}

/// How a connection ended.
package enum TransportEnd: Sendable, Equatable {
    /// HTTP: the response is complete. WebSocket: the peer closed.
    case completed
    /// It could not be opened, broke, or was answered by an HTTP status outside 200…299.
    case failed(reason: String)
    /// The server's public key matches none of the pins.
    case identityRejected(reason: String)
}

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
