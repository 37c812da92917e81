internal import NIOCore
internal import NIOPosix
internal import NIOSSL

/// Why a connection could not be made or used.
enum DialFailure: Error {
    /// The server's public key matches none of the pins.
    case pinMismatch
    /// The proxy answered `CONNECT` with this status.
    case proxyRefused(status: Int)
    /// The proxy wants to know who is there.
    case proxyChallenge([AuthenticationScheme])
    /// The dialogue with the proxy, or the handshake of TLS or WebSocket, took too long.
    case timeout(String)
    /// The peer closed in the middle.
    case closedEarly(String)
    /// The peer does not speak as it should.
    case badAnswer(String)
    /// A challenge was answered by giving up.
    case cancelled
    /// The connector was shut down.
    case shutDown

    /// What the transport tells, for this or any other error.
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
        case .proxyChallenge: "the proxy wants authentication"
        case .timeout(let what): "timeout: \(what)"
        case .closedEarly(let what): "closed early: \(what)"
        case .badAnswer(let what): what
        case .cancelled: "cancelled by the authentication delegate"
        case .shutDown: "the client was shut down"
        }
    }
}
