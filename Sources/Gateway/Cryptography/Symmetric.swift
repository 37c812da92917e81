internal import CCrypto

/// The hash SHA-256 (FIPS 180-4), alone and with a key.
package enum SHA256 {
    /// The length of a hash, in bytes.
    package static let length = 32

    /// The hash of bytes.
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
        let random = (0..<2).flatMap { _ in withUnsafeBytes(of: UInt64.random(in: .min ... .max), Array.init) }
        let nonce = Array(random[..<Self.nonceLength])
        return withCipher(isSealing: true, nonce, bytes.count, context) { cipher in
            var tag = [UInt8](repeating: 0, count: Self.tagLength)
            guard let encrypted = Self.converted(bytes, by: cipher), Self.isFinished(cipher),
                EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag) == 1
            else { return nil }
            return nonce + encrypted + tag
        }
    }

    /// The bytes that were sealed; nil if they were sealed with another key or context, or changed.
    package func open(_ bytes: [UInt8], context: [UInt8]) -> [UInt8]? {
        guard bytes.count >= Self.nonceLength + Self.tagLength else { return nil }
        let encrypted = Array(bytes[Self.nonceLength..<(bytes.count - Self.tagLength)])
        var tag = Array(bytes.suffix(Self.tagLength))
        return withCipher(isSealing: false, Array(bytes[..<Self.nonceLength]), encrypted.count, context) { cipher in
            guard let decrypted = Self.converted(encrypted, by: cipher),
                EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1,
                Self.isFinished(cipher)
            else { return nil }
            return decrypted
        }
    }

    /// Calls a function with a cipher that has the key, the nonce and the context.
    private func withCipher(
        isSealing: Bool,
        _ nonce: [UInt8],
        _ count: Int,
        _ context: [UInt8],
        _ body: (OpaquePointer) -> [UInt8]?
    ) -> [UInt8]? {
        guard key.count == Self.keyLength, max(count, context.count) <= Self.longest,
            let cipher = EVP_CIPHER_CTX_new()
        else { return nil }
        defer { EVP_CIPHER_CTX_free(cipher) }
        var written: Int32 = 0
        guard EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1,
            EVP_CipherUpdate(cipher, nil, &written, context, Int32(context.count)) == 1
        else { return nil }
        return body(cipher)
    }

    /// The bytes, encrypted or decrypted.
    private static func converted(_ bytes: [UInt8], by cipher: OpaquePointer) -> [UInt8]? {
        var isConverted = false
        let result = [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
            var written: Int32 = 0
            isConverted = EVP_CipherUpdate(cipher, buffer.baseAddress, &written, bytes, Int32(bytes.count)) == 1
            count = isConverted ? Int(written) : 0
        }
        return isConverted ? result : nil
    }

    /// Computes the tag, or compares it with the one that was set.
    private static func isFinished(_ cipher: OpaquePointer) -> Bool {
        // In this mode nothing is left to be written.
        var (rest, written) = ([UInt8](repeating: 0, count: tagLength), Int32(0))
        return EVP_CipherFinal_ex(cipher, &rest, &written) == 1
    }
}
