#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// How a client verifies `https` servers and authenticates itself to them.
public struct TLSSettings: Sendable, Equatable {
    /// The trusted certificates.
    public enum Trust: Sendable, Equatable {
        /// The certificate authorities of the operating system.
        case system
        /// The certificate authorities in a PEM file.
        case pemFile(String)
        /// The certificate authorities in a PEM text.
        case pem(String)
        /// Any: neither chain nor host name is verified. For tests only; certificate pins still apply.
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

    /// The trusted certificates. Default: the authorities of the operating system.
    public var trust: Trust = .system
    /// The client certificate for servers that request one; nil: none.
    public var identity: Identity?

    /// The defaults.
    public init() {}
}

/// The digest of a public key (subject public key info) that a connection requires of the server.
package struct CertificatePin: Sendable, Hashable {
    private let algorithm: MessageDigest
    private let digest: [UInt8]

    /// Parses `sha256/…` or `sha1/…` with the digest in canonical Base64; nil if it is malformed.
    package init?(_ text: String) {
        guard let slash = text.firstIndex(of: "/"),
            let algorithm = ["sha256": MessageDigest.sha256, "sha1": .sha1][String(text[..<slash])],
            let digest = Data(base64Encoded: String(text[text.index(after: slash)...])),
            digest.count == algorithm.length,
            digest.base64EncodedString().utf8.elementsEqual(text[text.index(after: slash)...].utf8)
        else { return nil }
        self.algorithm = algorithm
        self.digest = Array(digest)
    }

    /// Whether a public key matches the pin.
    package func matches(publicKeyInfo bytes: [UInt8]) -> Bool { digest == algorithm.hash(bytes) }
}
