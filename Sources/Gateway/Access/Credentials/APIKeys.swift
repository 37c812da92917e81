internal import Crypto

/// An API key: what a caller shows. Only its hash is ever stored.
package enum APIKey {
    /// How keys begin, so that people and secret scanners recognise them.
    static let prefix = "lsg_"

    /// A fresh key of 256 random bits.
    package static func make() -> String { prefix + Base64URL.encode(randomBytes()) }

    /// 32 bytes from the system's source of random numbers.
    static func randomBytes() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: .min ... .max) } }
}

/// The SHA-256 of a key, written `sha256:` and 64 hex digits.
///
/// One round without salt is enough for keys of 256 random bits: nobody can try them, and no two are equal. A password
/// that people can remember would need a slow, salted hash instead, so none may be used as a key.
package struct KeyHash: Sendable, Equatable, CustomStringConvertible {
    private static let scheme = "sha256:"

    private let digest: [UInt8]

    /// The hash of a key.
    package init(of key: String) { digest = Self.digest(of: key) }

    /// Reads a hash; nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let digits = Array(text.utf8.dropFirst(Self.scheme.utf8.count))
        guard digits.count == 64 else { return nil }
        var digest: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(of: digits[index]), let low = Self.value(of: digits[index + 1]) else {
                return nil
            }
            digest.append(high << 4 | low)
        }
        self.digest = digest
    }

    /// The hash as it is written in a configuration.
    package var description: String {
        Self.scheme + digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The 32 bytes that are kept of a secret.
    static func digest(of secret: String) -> [UInt8] { Array(SHA256.hash(data: Array(secret.utf8))) }

    /// Whether two hashes are equal; takes the same time wherever they differ.
    func matches(_ other: KeyHash) -> Bool { ConstantTime.areEqual(digest, other.digest) }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// The configured keys.
struct APIKeys: Sendable {
    /// The identity of the holder of a key.
    static func identity(of name: String) -> String { "key:\(name)" }

    private let keys: [KeyConfiguration]

    /// A ring of these keys; those without a hash open nothing.
    init(_ keys: [KeyConfiguration]) { self.keys = keys }

    /// The key that a caller shows; nil if it is none of the ring. Looks at every key, whichever it is.
    func find(_ key: String) -> KeyConfiguration? {
        let shown = KeyHash(of: key)
        var found: KeyConfiguration?
        for candidate in keys where candidate.hash?.matches(shown) ?? false { found = candidate }
        return found
    }

    /// The present rights of an identity; nil if no key has it.
    func rights(of identity: String) -> Rights? {
        keys.first { Self.identity(of: $0.name) == identity }?.rights
    }

    /// The identities whose key is gone, or is another one, or allows something else in a newer ring.
    func identitiesChanged(in newer: APIKeys) -> Set<String> {
        Set(keys.filter { !newer.keys.contains($0) }.map { Self.identity(of: $0.name) })
    }
}

/// Comparison of secrets.
enum ConstantTime {
    /// Whether two rows of bytes are equal; looks at all of them, wherever the first difference is. Rows of different
    /// lengths are told apart at once: lengths are no secret here.
    static func areEqual(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(one, other) { difference |= left ^ right }
        return difference == 0
    }
}
