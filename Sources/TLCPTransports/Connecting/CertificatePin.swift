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
