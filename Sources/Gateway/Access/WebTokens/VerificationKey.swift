internal import Crypto
internal import JWTKit

/// One key that signatures are verified with. The key decides its algorithm, never the token.
struct VerificationKey: Sendable {
    /// The algorithms that are taken (RFC 7518 section 3.1); `none` is none of them.
    enum Algorithm: String, Sendable, CaseIterable {
        /// HMAC with SHA-256.
        case hs256 = "HS256"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
    }

    /// The algorithm that the key is for.
    let algorithm: Algorithm
    /// The name that tokens may know it by.
    let identifier: String?
    private let signer: any JWTAlgorithm

    /// The key made of some material.
    init(_ material: KeyMaterial) async throws {
        let collection = JWTKeyCollection()
        switch material.value {
        case .secret(let bytes):
            algorithm = .hs256
            await collection.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
        case .rsa(let key):
            algorithm = .rs256
            await collection.add(rsa: key, digestAlgorithm: .sha256)
        case .ecdsa(let key):
            algorithm = .es256
            await collection.add(ecdsa: key)
        }
        identifier = material.identifier
        signer = try await collection.getKey()
    }

    /// Whether a signature is this key's over some bytes.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        (try? signer.verify(signature, signs: bytes)) ?? false
    }
}
