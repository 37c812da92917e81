internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import TLCP

/// The reason for which a connection failed.
enum DialFailure: Error {
    /// The server's public key matches none of the pins.
    case pinMismatch
    /// The proxy rejected `CONNECT` with this status.
    case proxyRefused(status: Int)
    /// The proxy requests authentication.
    case proxyChallenge([AuthenticationScheme])
    /// `CONNECT`, or the handshake of TLS or WebSocket, timed out.
    case timeout(String)
    /// The peer closed the connection during a step.
    case closedEarly(String)
    /// The peer violated the protocol.
    case badAnswer(String)
    /// The answer to a challenge was `cancel`.
    case cancelled
    /// The connector was shut down.
    case shutDown

    /// The event for this or any other error.
    static func end(for error: any Error) -> TransportEnd {
        switch error {
        case DialFailure.pinMismatch:
            .identityRejected(reason: "the server's public key matches none of the certificate pins")
        case let failure as DialFailure: .failed(reason: failure.reason)
        case let error as NIOConnectionError: .failed(reason: "cannot connect to \(error.host), port \(error.port)")
        case let error as NIOSSLError: .failed(reason: "TLS: \(error)")
        default: .failed(reason: "\(error)")
        }
    }

    private var reason: String {
        switch self {
        case .pinMismatch: "pin mismatch"
        case .proxyRefused(let status): "the proxy answered with HTTP status \(status)"
        case .proxyChallenge: "the proxy requires authentication"
        case .timeout(let what): "timeout: \(what)"
        case .closedEarly(let what): "closed early: \(what)"
        case .badAnswer(let what): what
        case .cancelled: "cancelled by the authentication delegate"
        case .shutDown: "the client was shut down"
        }
    }
}
