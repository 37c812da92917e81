import Crypto
import CryptoExtras
import Foundation

@testable import Gateway

/// Makes valid and forged tokens.
enum TokenForge {
    static let secret = "a secret of thirty-two bytes or so, for tests"
    static let ellipticKey = P256.Signing.PrivateKey()
    static let rsaKey = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    /// How a token is signed.
    enum Signing {
        case hs256(String)
        case es256(P256.Signing.PrivateKey)
        case rs256
        case nothing
    }

    /// A token of these JSON texts.
    static func token(header: String, claims: String, _ signing: Signing) throws -> String {
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let bytes = Array(input.utf8)
        let signature: [UInt8]
        switch signing {
        case .hs256(let secret):
            let key = SymmetricKey(data: Array(secret.utf8))
            signature = Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
        case .es256(let key): signature = Array(try key.signature(for: bytes).rawRepresentation)
        case .rs256:
            guard let key = rsaKey else { throw CancellationError() }
            signature = Array(
                try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation
            )
        case .nothing: signature = []
        }
        return input + "." + Base64URL.encode(signature)
    }

    /// A valid token of HS256 with these claims, subject and expiry.
    static func token(_ claims: String = "", subject: String = "carol", expiry: Double) throws -> String {
        let more = claims.isEmpty ? "" : ",\(claims)"
        return try token(
            header: #"{"alg":"HS256","typ":"JWT"}"#,
            claims: #"{"sub":"\#(subject)","exp":\#(expiry)\#(more)}"#,
            .hs256(secret)
        )
    }

    /// A configuration that accepts such tokens.
    static func configuration() -> AccessConfiguration {
        var access = AccessConfiguration()
        access.webTokens.secret = secret
        return access
    }
}
