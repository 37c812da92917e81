internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Primitives
internal import TLCP

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The reason for which a connection failed.
enum DialFailure: Error {
    /// The server's public key matches none of the pins.
    case pinMismatch
    /// The certificate of the server, or of an authority of its, was rejected.
    case certificate(FailureKind)
    /// The response to a request without TLS is an alert of TLS.
    case encrypted
    /// The proxy rejected `CONNECT` with this status.
    case proxyRefused(status: Int)
    /// The proxy cannot be reached, or does not answer `CONNECT` with a response.
    case proxyFailed(String)
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
    case shutDown

    /// The failure of a step on the way to the proxy, which is not that of the server.
    static func ofProxy(_ error: any Error) -> any Error {
        switch error {
        case DialFailure.proxyRefused, DialFailure.proxyChallenge, DialFailure.shutDown: return error
        default:
            guard case .failed(let reason, _, _) = end(for: error) else { return error }
            return DialFailure.proxyFailed(reason)
        }
    }

    /// The event for this or any other error.
    static func end(for error: any Error) -> TransportEnd {
        switch error {
        case let failure as DialFailure: failure.end
        case let error as NIOConnectionError:
            .failed(reason: "cannot connect to \(error.host), port \(error.port)", kind: kind(of: error))
        case is NameLookup.Failure: .failed(reason: "the host name is unknown", kind: .nameNotFound)
        case let error as IOError: .failed(reason: "the connection failed", kind: kind(of: error))
        case ChannelError.connectTimeout: .failed(reason: "timeout: connect", kind: .timeout)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            .failed(reason: "the TLS handshake failed", kind: tlsKind(of: "\(error)"))
        // The end of the connection within a response, as when the server or a proxy is stopped during a stream.
        case HTTPParserError.invalidEOFState: end(for: DialFailure.closedEarly("response"))
        case is HTTPParserError: .failed(reason: "the response is not HTTP", kind: .notLightstreamer)
        case let error as TLCPError: .failed(reason: "\(error)", kind: .notLightstreamer)
        default: .failed(reason: "the connection failed")
        }
    }

    /// The end of a WebSocket handshake by the status of its response: the WebSocket failed, whatever the server or a proxy
    /// would answer to other requests.
    static func handshakeEnd(httpStatus status: Int) -> TransportEnd {
        .failed(reason: "HTTP status \(status)", kind: FailureKind(httpStatus: status), status: status)
    }

    /// The end of a connection by the status of an HTTP response.
    static func end(httpStatus status: Int) -> TransportEnd {
        .refused(reason: "HTTP status \(status)", kind: FailureKind(httpStatus: status), status: status)
    }

    private static func kind(of error: NIOConnectionError) -> FailureKind {
        guard let failure = error.connectionErrors.last?.error else { return .nameNotFound }
        if let system = failure as? IOError { return kind(of: system) }
        if case ChannelError.connectTimeout = failure { return .timeout }
        return .unreachable
    }

    private static func kind(of error: IOError) -> FailureKind {
        switch error.errnoCode {
        case ECONNREFUSED: .refused
        case ETIMEDOUT: .timeout
        case ECONNRESET, EPIPE: .closed
        case EHOSTUNREACH, ENETUNREACH: .unreachable
        default: .other
        }
    }

    /// The kind of an error of the TLS library, whose text alone has the reason.
    private static func tlsKind(of text: String) -> FailureKind {
        if text.contains("failedToValidateHostname") { return .certificateName }
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return .certificateAuthority }
        if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") { return .plainText }
        return .tls
    }

    /// The event for an error that prevented a connection.
    static func unreachable(_ error: any Error) -> TransportEnd {
        guard case .failed(let reason, let kind, let status) = end(for: error) else { return end(for: error) }
        return .unreachable(reason: reason, kind: kind, status: status)
    }

    private var end: TransportEnd {
        switch self {
        case .pinMismatch:
            .identityRejected(reason: "the server's public key matches none of the certificate pins")
        case .certificate(let kind): .failed(reason: "the TLS handshake failed", kind: kind)
        case .encrypted: .failed(reason: "the server speaks TLS on this port", kind: .encrypted)
        case .proxyRefused(let status):
            .failed(reason: "the proxy answered with HTTP status \(status)", kind: .proxy, status: status)
        case .proxyFailed(let reason): .failed(reason: "the proxy failed: \(reason)", kind: .proxy)
        case .proxyChallenge: .failed(reason: "the proxy requires authentication", kind: .proxy)
        case .timeout(let what): .failed(reason: "timeout: \(what)", kind: .timeout)
        case .closedEarly(let what): .failed(reason: "closed early: \(what)", kind: .closed)
        case .badAnswer(let what): .failed(reason: what, kind: .notLightstreamer)
        case .cancelled: .failed(reason: "cancelled by the authentication delegate", kind: .unauthorized)
        case .shutDown: .failed(reason: "the client was shut down")
        }
    }
}
