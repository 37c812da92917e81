internal import CCrypto

/// The hash SHA-256 (FIPS 180-4), alone and with a key.
package enum SHA256 {
    /// The length of a hash, in bytes.
    package static let length = 32

    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        filled { EVP_Digest(bytes, bytes.count, $0, nil, EVP_sha256(), nil) == 1 }
    }

    /// The authentication code of bytes with a key of any length: HMAC-SHA-256 (RFC 2104).
    package static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        filled { HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, $0, nil) != nil }
    }

    /// Whether two hashes are equal, compared in a time that does not depend on their bytes.
    package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }

    private static func filled(_ compute: (UnsafeMutablePointer<UInt8>?) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            let isComputed = compute(buffer.baseAddress)
            // It has no reason to fail; a hash of other bytes would admit a wrong caller.
            precondition(isComputed, "OpenSSL computes no SHA-256")
            count = length
        }
    }
}

/// Encryption of bytes that cannot be changed unnoticed: AES-256 in Galois/Counter Mode (NIST SP 800-38D).
///
/// The result is the nonce, the encrypted bytes and the tag:
///
///     nonce 12 bytes · encrypted · tag 16 bytes
package struct SealedBox: Sendable {
    private static let (keyLength, nonceLength, tagLength) = (32, 12, 16)
    /// The library counts in 32 bits.
    private static let longest = Int(Int32.max) - tagLength

    private let key: [UInt8]

    /// Encryption with a key of 32 bytes; nothing can be encrypted with a key of another length.
    package init(key: [UInt8]) { self.key = key }

    /// The encrypted bytes; nil for a key of another length.
    ///
    /// - Parameter context: Bytes that are not part of the result, and without which it does not open.
    package func seal(_ bytes: [UInt8], context: [UInt8]) -> [UInt8]? {
        let random = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        let nonce = withUnsafeBytes(of: random) { Array($0[..<Self.nonceLength]) }
        var tag = [UInt8](repeating: 0, count: Self.tagLength)
        return convert(bytes, isSealing: true, nonce, context, &tag).map { nonce + $0 + tag }
    }

    /// The bytes that were sealed; nil if they were sealed with another key or context, or changed.
    package func open(_ bytes: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard bytes.count >= Self.nonceLength + Self.tagLength else { return nil }
        let encrypted = Array(bytes[Self.nonceLength..<(bytes.count - Self.tagLength)])
        var tag = Array(bytes.suffix(Self.tagLength))
        return convert(encrypted, isSealing: false, Array(bytes[..<Self.nonceLength]), context, &tag)
    }

    /// Encrypts bytes and computes the tag, or decrypts bytes; nil if the tag is not that of the bytes.
    private func convert(
        _ bytes: [UInt8],
        isSealing: Bool,
        _ nonce: [UInt8],
        _ context: [UInt8],
        _ tag: inout [UInt8]
    ) -> [UInt8]? {
        guard key.count == Self.keyLength, max(bytes.count, context.count) <= Self.longest,
            let cipher = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(cipher) }
        // The library writes as many bytes as it reads, and nothing at the end; a byte more, because it takes no null pointer.
        var (result, end) = (
            [UInt8](repeating: 0, count: bytes.count + 1), [UInt8](repeating: 0, count: Self.tagLength)
        )
        var written: Int32 = 0
        guard EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1,
            EVP_CipherUpdate(cipher, nil, &written, context, Int32(context.count)) == 1,
            EVP_CipherUpdate(cipher, &result, &written, bytes, Int32(bytes.count)) == 1,
            isSealing || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
            EVP_CipherFinal_ex(cipher, &end, &written) == 1,
            !isSealing || EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
        else { return nil }
        result.removeLast()
        return result
    }
}
