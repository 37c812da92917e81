internal import CCrypto
internal import FoundationEssentials
internal import Glibc

/// A public key that verifies signatures over SHA-256: of RSA with the padding of PKCS #1 (RFC 8017 section 8.2), or on the curve
/// P-256 (FIPS 186-4).
package struct PublicKey: Sendable, Equatable {
    package enum Kind: Sendable {
        case rsa
        case p256
    }

    package let kind: Kind
    /// The length of the modulus of RSA, or of a coordinate, in bits.
    package let bits: Int
    private let handle: Handle

    /// A key of the library.
    private final class Handle: @unchecked Sendable {
        // Unchecked: the library counts references atomically, and only reads a key that verifies.
        let key: OpaquePointer

        init(_ key: OpaquePointer) { self.key = key }

        deinit { EVP_PKEY_free(key) }
    }

    /// Larger numbers would make each verification slow, also of signatures of callers that nobody knows.
    private static let (longestModulus, longestExponent) = (8 * 1024, 33)

    // MARK: - Reading

    /// Reads a PEM text of one block, with any text around the block (RFC 7468): a `SubjectPublicKeyInfo`, or an `RSAPublicKey` (RFC
    /// 8017 appendix A.1.1). Nil if it has no key of these kinds.
    package init?(pem text: String) {
        guard let bytes = PEM.bytes(of: text) else { return nil }
        self.init(Self.read(bytes) { d2i_PUBKEY(nil, $0, $1) } ?? Self.readNumbers(bytes))
    }

    /// A key of RSA; nil if the numbers, with the highest byte first, cannot be one.
    package init?(modulus: [UInt8], exponent: [UInt8]) {
        self.init(Self.readNumbers(DER.sequence(DER.integer(modulus), DER.integer(exponent))))
    }

    /// A key on the curve P-256; nil if the point is not on the curve.
    package init?(x: [UInt8], y: [UInt8]) {
        self.init(Self.read(DER.pointOfP256 + x + y) { d2i_PUBKEY(nil, $0, $1) })
    }

    private init?(_ handle: Handle?) {
        guard let handle, Self.isSound(handle.key) else { return nil }
        switch EVP_PKEY_get_base_id(handle.key) {
        case EVP_PKEY_RSA where Self.hasUsualLength(handle.key): kind = .rsa
        case EVP_PKEY_EC where Self.isOnP256(handle.key): kind = .p256
        default: return nil
        }
        self.handle = handle
        bits = Int(EVP_PKEY_get_bits(handle.key))
    }

    /// The key that a function of the library reads from all of some bytes.
    private static func read(
        _ bytes: [UInt8],
        by read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
    ) -> Handle? {
        bytes.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            guard let key = read(&place, buffer.count) else { return nil }
            let handle = Handle(key)
            return place == buffer.baseAddress.map { $0 + buffer.count } ? handle : nil
        }
    }

    private static func readNumbers(_ bytes: [UInt8]) -> Handle? {
        read(bytes) { d2i_PublicKey(EVP_PKEY_RSA, nil, $0, $1) }
    }

    /// Whether the library finds no fault: a point that is not on its curve, an even modulus or exponent.
    private static func isSound(_ key: OpaquePointer) -> Bool {
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_public_check(context) == 1
    }

    private static func hasUsualLength(_ key: OpaquePointer) -> Bool {
        var exponent: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 else { return false }
        defer { BN_free(exponent) }
        return Int(EVP_PKEY_get_bits(key)) <= longestModulus && Int(BN_num_bits(exponent)) <= longestExponent
    }

    private static func isOnP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 32)
        guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return false }
        return strcmp(name, SN_X9_62_prime256v1) == 0
    }

    // MARK: - Use

    package static func == (left: PublicKey, right: PublicKey) -> Bool {
        EVP_PKEY_eq(left.handle.key, right.handle.key) == 1
    }

    /// The key as a PEM text: a `SubjectPublicKeyInfo` (RFC 5280 section 4.1.2.7) with the label `PUBLIC KEY`.
    package var pem: String {
        var bytes = [UInt8](repeating: 0, count: max(0, Int(i2d_PUBKEY(handle.key, nil))))
        bytes.withUnsafeMutableBufferPointer { buffer in
            var end = buffer.baseAddress
            _ = i2d_PUBKEY(handle.key, &end)
        }
        return PEM.text(of: bytes)
    }

    /// Whether a signature was made with the private key over some bytes. A signature with a key on the curve has two numbers of
    /// 32 bytes (RFC 7518 section 3.4).
    package func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let signature = kind == .rsa ? signature : Self.encoded(signature), let context = EVP_MD_CTX_new() else {
            return false
        }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle.key) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    /// The two numbers of a signature, in DER; nil if they do not have 32 bytes each.
    private static func encoded(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        return DER.sequence(DER.integer(Array(signature[..<32])), DER.integer(Array(signature[32...])))
    }
}

/// Values in the Distinguished Encoding Rules (ITU-T X.690).
private enum DER {
    /// What precedes the coordinates in the `SubjectPublicKeyInfo` of a point of P-256 (RFC 5480 section 2).
    static let pointOfP256: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    static func sequence(_ values: [UInt8]...) -> [UInt8] { value(0x30, values.flatMap(\.self)) }

    /// A non-negative number, of bytes with the highest byte first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = bytes.drop { $0 == 0 }
        return value(0x02, (digits.first ?? 0x80) < 0x80 ? Array(digits) : [0] + digits)
    }

    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(count)] + content }
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(bytes.count)] + bytes + content
    }
}

/// Texts with a block of bytes (RFC 7468).
private enum PEM {
    /// The bytes of the only block of a text; nil if it has none or several. The label is not looked at: texts in the field have
    /// wrong ones.
    static func bytes(of text: String) -> [UInt8]? {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        let marks = lines.indices.filter { lines[$0].hasPrefix("-----") }
        guard marks.count == 2, lines[marks[0]].hasPrefix("-----BEGIN"), lines[marks[1]].hasPrefix("-----END"),
            lines[marks[0]].dropFirst(10) == lines[marks[1]].dropFirst(8), lines[marks[1]].hasSuffix("-----")
        else { return nil }
        return Data(base64Encoded: lines[(marks[0] + 1)..<marks[1]].joined()).map { Array($0) }
    }

    /// A block with the label of a public key.
    static func text(of bytes: [UInt8]) -> String {
        let data = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(data)\n-----END PUBLIC KEY-----"
    }
}
