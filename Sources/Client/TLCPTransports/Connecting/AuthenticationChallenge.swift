internal import Primitives

/// An authentication challenge of a server or proxy. It must be answered once, from any thread; later answers are
/// ignored. A challenge that is released without an answer gets the default handling.
public final class AuthenticationChallenge: Sendable {
    /// The kind of challenge.
    public enum Kind: Sendable, Equatable {
        /// HTTP status 401: the schemes offered (`Basic`, …) and the realm of the first.
        case server(schemes: [String], realm: String?)
        /// HTTP status 407 of a proxy: the schemes offered and the realm of the first.
        case proxy(schemes: [String], realm: String?)
        /// The certificates of the server (DER, leaf first). If `previousFailureCount` is 0, the TLS settings accept
        /// them, and only `cancel` closes the connection. If it is 1, the settings reject them, and only the credential
        /// `trust` continues.
        case serverTrust(certificates: [[UInt8]])
        /// A TLS connection is about to be opened, and the server may ask for a client certificate.
        case clientCertificate
    }

    /// A credential.
    public enum Credential: Sendable, Equatable {
        /// User and password, for the Basic or Digest scheme.
        case password(user: String, password: String)
        /// A literal value of the `Authorization` or `Proxy-Authorization` header, for any other scheme.
        case header(String)
        /// A client certificate.
        case identity(TLSSettings.Identity)
        /// Trusts the certificates of the server.
        case trust
    }

    /// An answer.
    public enum Answer: Sendable, Equatable {
        /// Continues with this credential.
        case use(Credential)
        /// Continues without a credential: the response of the server counts as the result.
        case continueWithoutCredential
        /// Closes the connection.
        case cancel
        /// Handles the challenge as without a delegate.
        case performDefaultHandling
        /// Tries another kind of authentication; without one, the same as `continueWithoutCredential`.
        case rejectProtectionSpaceAndContinue
    }

    /// The kind of challenge.
    public let kind: Kind
    /// The host of the server or proxy.
    public let host: String
    /// The port of the server or proxy.
    public let port: Int
    /// The number of failed attempts of this connection with credentials for this host.
    public let previousFailureCount: Int

    private let handler: RankedMutex<(@Sendable (Answer) -> Void)?>

    /// A challenge; the handler is called with the first answer, on the thread of the caller.
    package init(
        kind: Kind,
        host: String,
        port: Int,
        previousFailureCount: Int,
        handler: @escaping @Sendable (Answer) -> Void
    ) {
        self.kind = kind
        self.host = host
        self.port = port
        self.previousFailureCount = previousFailureCount
        self.handler = RankedMutex(handler, rank: .mailbox)
    }

    deinit { answer(.performDefaultHandling) }

    /// Answers the challenge.
    public func answer(_ answer: Answer) {
        let handler = handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
        handler?(answer)
    }
}
