package import TLCP

/// A request of the machine to open one connection.
package struct TransportRequest: Sendable, Equatable {
    /// An HTTP request of TLCP: always a POST of `text/plain; charset=utf-8`.
    package struct Request: Sendable, Equatable {
        /// Path and query, to be appended to the path prefix of the address; starts with `/lightstreamer/`.
        package var target: String
        /// The body; it may hold the password, so it must not be logged.
        package var body: [UInt8]
    }

    package var kind: TransportKind
    /// The address to connect to, as an `http` or `https` URL: host, optional port, optional path prefix.
    package var address: String
    /// The WebSocket subprotocol to request (`TLCP-2.5.0.lightstreamer.com`); nil for HTTP.
    package var subprotocol: String?
    /// The request to send; nil for a WebSocket.
    package var request: Request?
    /// The user's extra headers that apply to this connection.
    package var headers: [String: String] = [:]
    /// The time for a response, after which the machine closes the connection; a poll has its idle timeout in addition.
    package var responseTime = Duration.zero
}

/// Identifies one connection of the session machine: a WebSocket, or one HTTP request with its response.
///
/// A machine never reuses an identifier, so that events of a connection that was given up are recognised and ignored.
package struct ConnectionID: Sendable, Hashable {
    /// A number unique within its machine.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
