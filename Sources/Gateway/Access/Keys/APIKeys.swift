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
