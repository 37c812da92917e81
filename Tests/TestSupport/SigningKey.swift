internal import CCrypto

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A new private key, which signs what a test verifies.
package final class SigningKey: @unchecked Sendable {
    // Unchecked: the library counts references atomically, and only reads a key that signs.

    package enum Kind: Sendable {
        /// With a modulus of 2,048 bits.
        case rsa
        case p256
        case p384
    }

    private let key: OpaquePointer

    package init(_ kind: Kind = .p256) {
        var key: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(kind == .rsa ? EVP_PKEY_RSA : EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        switch kind {
        case .rsa: EVP_PKEY_CTX_set_rsa_keygen_bits(context, 2048)
        case .p256: EVP_PKEY_CTX_set_group_name(context, "P-256")
        case .p384: EVP_PKEY_CTX_set_group_name(context, "P-384")
        }
        EVP_PKEY_keygen(context, &key)
        guard let key else { preconditionFailure("OpenSSL makes no key") }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    // MARK: - Texts and numbers

    /// The public key, as a `SubjectPublicKeyInfo`.
    package var publicPEM: String { Self.pem("PUBLIC KEY", Self.encoded { i2d_PUBKEY(key, $0) }) }

    /// The public key of RSA, as an `RSAPublicKey`.
    package var publicPKCS1PEM: String { Self.pem("RSA PUBLIC KEY", Self.encoded { i2d_PublicKey(key, $0) }) }

    /// The private key, as a `PrivateKeyInfo`.
    package var privatePEM: String {
        let info = EVP_PKEY2PKCS8(key)
        defer { PKCS8_PRIV_KEY_INFO_free(info) }
        return Self.pem("PRIVATE KEY", Self.encoded { i2d_PKCS8_PRIV_KEY_INFO(info, $0) })
    }

    /// The coordinates of the public key on P-256, which end its encoding.
    package var coordinates: (x: [UInt8], y: [UInt8]) {
        let point = Self.encoded { i2d_PUBKEY(key, $0) }.suffix(64)
        return (Array(point.prefix(32)), Array(point.suffix(32)))
    }

    /// The modulus of the public key of RSA; the exponent is 65,537.
    package var modulus: [UInt8] {
        var number: OpaquePointer?
        EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &number)
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 256)
        BN_bn2binpad(number, &bytes, Int32(bytes.count))
        return bytes
    }

    /// Bytes in the text format of RFC 7468.
    package static func pem(_ label: String, _ bytes: [UInt8]) -> String {
        let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(lines)\n-----END \(label)-----"
    }

    private static func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(write(nil))) { buffer, count in
            var end = buffer.baseAddress
            count = Int(write(&end))
        }
    }

    // MARK: - Signatures

    /// A signature over SHA-256; of RSA with the padding of PKCS #1 or with that of PSS, on a curve in DER.
    package func signature(of bytes: [UInt8], isPSS: Bool = false) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var options: OpaquePointer?
        EVP_DigestSignInit(context, &options, EVP_sha256(), nil, key)
        if isPSS { EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) }
        var count = Int(EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: count)
        EVP_DigestSign(context, &signature, &count, bytes, bytes.count)
        return Array(signature[..<count])
    }

    /// A signature on P-256 in the form of web tokens: two numbers of 32 bytes (RFC 7518 section 3.4).
    package func tokenSignature(of bytes: [UInt8]) -> [UInt8] {
        let signature = signature(of: bytes)
        let numbers = signature.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &place, buffer.count)
        }
        defer { ECDSA_SIG_free(numbers) }
        var (first, second) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        BN_bn2binpad(ECDSA_SIG_get0_r(numbers), &first, 32)
        BN_bn2binpad(ECDSA_SIG_get0_s(numbers), &second, 32)
        return first + second
    }
}
