/// The kinds of failures of connections, as far as each has a remedy of its own.
package enum FailureKind: String, Sendable, CaseIterable {
    /// Nothing accepts connections at the address.
    case refused
    /// There is no route to the host.
    case unreachable
    /// The host name has no address.
    case nameNotFound = "name-not-found"
    /// The server, or a proxy on the way, did not respond in time.
    case timeout
    /// The authority that issued the certificate of the server is not trusted.
    case certificateAuthority = "certificate-authority"
    /// The certificate of the server, or of its authority, has expired.
    case certificateExpired = "certificate-expired"
    /// The certificate of the server, or of its authority, is not valid yet.
    case certificateNotYetValid = "certificate-not-yet-valid"
    /// The certificate of the server is for another name.
    case certificateName = "certificate-name"
    /// The certificate of the server is not a pinned one.
    case certificatePin = "certificate-pin"
    /// The server does not speak TLS on this port.
    case plainText = "plain-text"
    /// The server speaks TLS on this port, and the address is one without TLS.
    case encrypted
    /// The TLS handshake failed for another reason.
    case tls
    /// The proxy cannot be reached, refused to connect, or requires credentials: HTTP status 407.
    case proxy
    /// The server, or a proxy in front of it, requires credentials: HTTP status 401 or 403.
    case unauthorized
    /// No Lightstreamer server is at the path: HTTP status 404.
    case notFound = "not-found"
    /// Another HTTP status than 200.
    case httpStatus = "http-status"
    /// The response is not that of a Lightstreamer server.
    case notLightstreamer = "not-lightstreamer"
    /// The peer closed the connection.
    case closed
    /// The number of notifications that the server has sent in the session (`PROG`) differs from the client's count.
    case progressMismatch = "progress-mismatch"
    /// The server refused or closed the session with a code of its own.
    case serverError = "server-error"
    /// Any other failure.
    case other

    /// The kind of an HTTP status.
    package init(httpStatus status: Int) {
        switch status {
        case 401, 403: self = .unauthorized
        case 407: self = .proxy
        case 404: self = .notFound
        default: self = .httpStatus
        }
    }
}
