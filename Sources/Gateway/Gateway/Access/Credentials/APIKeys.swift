internal import Cryptography

/// An API key, as its holder presents it. The gateway stores only its hash.
package enum APIKey {
    /// The beginning of every key, by which people and secret scanners recognise one.
    static let prefix = "lsg_"
    /// The number of random bytes in a key or ticket.
    private static let randomLength = 32

    /// Makes a key of 256 random bits.
    package static func make() -> String { prefix + Base64URL.encode(randomBytes()) }

    /// 32 bytes from the system's random number generator.
    static func randomBytes() -> [UInt8] { (0..<randomLength).map { _ in UInt8.random(in: .min ... .max) } }
}

/// The SHA-256 of a key, written as `sha256:` and 64 hex digits.
///
/// One round without salt suffices for keys of 256 random bits, which cannot be guessed and do not repeat. A password
/// would need a slow, salted hash, so passwords must not be used as keys.
package struct KeyHash: Sendable, Equatable, CustomStringConvertible {
    private static let scheme = "sha256:"

    private let digest: [UInt8]

    package init(of key: String) { digest = Self.digest(of: key) }

    /// Reads a hash; nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.scheme) else { return nil }
        let digits = Array(text.utf8.dropFirst(Self.scheme.utf8.count))
        guard digits.count == 2 * SHA256.length else { return nil }
        var digest: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = PercentDecoding.hexDigit(digits[index]),
                let low = PercentDecoding.hexDigit(digits[index + 1])
            else { return nil }
            digest.append(high << 4 | low)
        }
        self.digest = digest
    }

    /// The hash in the form of the configuration.
    package var description: String {
        Self.scheme + digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func digest(of secret: String) -> [UInt8] { SHA256.hash(Array(secret.utf8)) }

    /// Whether this is the hash with a given digest, compared in constant time.
    func matches(_ digest: [UInt8]) -> Bool { SHA256.areEqual(digest, self.digest) }
}

package struct APIKeys: Sendable {
    static func identity(of name: String) -> String { "key:\(name)" }

    /// The name of the key with an identity; nil for an identity of a token.
    static func name(of identity: String) -> Substring? { identity.hasPrefix("key:") ? identity.dropFirst(4) : nil }

    private let keys: [KeyConfiguration]

    /// The keys of a configuration. A key without a hash matches nothing.
    init(_ keys: [KeyConfiguration]) { self.keys = keys }

    /// The key that a caller presents; nil if it is not configured. All keys are compared, so that the time does not
    /// depend on which one matches.
    func find(_ key: String) -> KeyConfiguration? {
        let digest = KeyHash.digest(of: key)
        var found: KeyConfiguration?
        for candidate in keys where candidate.hash?.matches(digest) ?? false { found = candidate }
        return found
    }

    /// The present rights of an identity; nil if no key has it.
    package func rights(of identity: String) -> Rights? {
        keys.first { Self.identity(of: $0.name) == identity }?.rights
    }

    /// The hash and the rights of an identity as a line of text; nil if no key has it.
    func line(of identity: String) -> String? {
        keys.first { Self.identity(of: $0.name) == identity }
            .map { "\($0.hash?.description ?? "") \($0.rights.line)" }
    }

    /// The identities whose key was removed, replaced or given other rights in a newer configuration.
    func identitiesChanged(in newer: APIKeys) -> Set<String> {
        Set(keys.filter { !newer.keys.contains($0) }.map { Self.identity(of: $0.name) })
    }
}
