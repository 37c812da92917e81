/// How `https` servers are recognised, and how this side identifies itself to them.
public struct TLSSettings: Sendable, Equatable {
    /// Whom to trust.
    public enum Trust: Sendable, Equatable {
        /// The certificate authorities of the operating system.
        case system
        /// The certificate authorities in a PEM file.
        case pemFile(String)
        /// The certificate authorities in a PEM text.
        case pem(String)
        /// Anybody: neither chain nor host name is checked. For tests only; certificate pins still hold.
        case anything
    }

    /// A client certificate chain with its private key, both PEM.
    public struct Identity: Sendable, Equatable {
        /// The chain, leaf first, as PEM text.
        public var certificateChain: String
        /// The private key as PEM text.
        public var privateKey: String

        /// An identity.
        public init(certificateChain: String, privateKey: String) {
            self.certificateChain = certificateChain
            self.privateKey = privateKey
        }
    }

    /// Whom to trust. Default: the operating system's authorities.
    public var trust: Trust = .system
    /// The identity shown to servers that ask for one; nil: none.
    public var identity: Identity?

    /// The defaults.
    public init() {}
}

/// The digest of a server's public key (subject public key info) that a connection insists on.
package struct CertificatePin: Sendable, Hashable {
    /// How the key was digested.
    package enum Algorithm: String, Sendable {
        case sha256
        case sha1

        var length: Int {
            switch self {
            case .sha256: 32
            case .sha1: 20
            }
        }
    }

    /// How the key was digested.
    package let algorithm: Algorithm
    /// The digest.
    package let digest: [UInt8]

    /// Reads `sha256/…` or `sha1/…` with the digest in base64, the unused bits of which are zero; nil for anything else.
    package init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/"), let algorithm = Algorithm(rawValue: String(text[..<slash])),
            let digest = Base64.decode(text[text.index(after: slash)...].utf8), digest.count == algorithm.length,
            Base64.encode(digest).utf8.elementsEqual(text[text.index(after: slash)...].utf8)
        else { return nil }
        self.algorithm = algorithm
        self.digest = digest
    }

    /// Whether a public key is the pinned one.
    package func matches(publicKeyInfo bytes: [UInt8]) -> Bool {
        switch algorithm {
        case .sha256: digest == SHA256.digest(of: bytes)
        case .sha1: digest == SHA1.digest(of: bytes)
        }
    }
}
