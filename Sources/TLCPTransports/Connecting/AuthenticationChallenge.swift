internal import Synchronization

/// A question of a server or proxy that stands between this side and its connection. It must be answered exactly
/// once, from any thread; later answers are ignored. A challenge that is let go unanswered is handled by default.
public final class AuthenticationChallenge: Sendable {
    /// What is asked.
    public enum Kind: Sendable, Equatable {
        /// HTTP status 401: the schemes offered (`Basic`, …) and the realm of the first.
        case server(schemes: [String], realm: String?)
        /// HTTP status 407 of a proxy: the schemes offered and the realm of the first.
        case proxy(schemes: [String], realm: String?)
        /// The server shows these certificates (DER, leaf first). With `previousFailureCount` 0 the TLS settings have
        /// accepted it, and `cancel` alone gives it up; with 1 they have not, and only the credential `trust` goes on.
        case serverTrust(certificates: [[UInt8]])
        /// A TLS connection is about to be opened, and the server may ask for a client certificate.
        case clientCertificate
    }

    /// What to show.
    public enum Credential: Sendable, Equatable {
        /// User and password, for the Basic scheme.
        case password(user: String, password: String)
        /// A literal value of the `Authorization` or `Proxy-Authorization` header, for any other scheme.
        case header(String)
        /// A client certificate.
        case identity(TLSSettings.Identity)
        /// The server is trusted as it is.
        case trust
    }

    /// An answer.
    public enum Answer: Sendable, Equatable {
        /// Go on with this credential.
        case use(Credential)
        /// Go on without one: the refusal of the server stands.
        case continueWithoutCredential
        /// Give the connection up.
        case cancel
        /// Do what would be done without a delegate.
        case performDefaultHandling
        /// Try another way of authentication; where there is none, as without a credential.
        case rejectProtectionSpaceAndContinue
    }

    /// What is asked.
    public let kind: Kind
    /// The host that asks.
    public let host: String
    /// The port that asks.
    public let port: Int
    /// How often this connection has been refused already.
    public let previousFailureCount: Int

    private let handler: Mutex<(@Sendable (Answer) -> Void)?>

    /// A challenge; the handler is called with the first answer, on the thread that gives it.
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
        self.handler = Mutex(handler)
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
