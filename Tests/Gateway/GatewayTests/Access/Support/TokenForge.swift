import Cryptography
import Foundation
import TestSupport

@testable import Gateway

/// Makes valid and forged tokens.
enum TokenForge {
    static let secret = "a secret of thirty-two bytes or so, for tests"
    static let ellipticKey = SigningKey()
    static let rsaKey = SigningKey(.rsa)

    /// How a token is signed.
    enum Signing {
        case hs256(String)
        case es256(SigningKey)
        case rs256
        case nothing
    }

    /// A token of these JSON texts.
    static func token(header: String, claims: String, _ signing: Signing) throws -> String {
        let input = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let bytes = Array(input.utf8)
        let signature =
            switch signing {
            case .hs256(let secret): SHA256.code(of: bytes, key: Array(secret.utf8))
            case .es256(let key): key.tokenSignature(of: bytes)
            case .rs256: rsaKey.signature(of: bytes)
            case .nothing: [UInt8]()
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
