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
