internal import Cryptography
internal import JSONText

/// A key that verifies signatures, parsed and checked. The algorithm belongs to the key and is never taken from the token.
struct KeyMaterial: Sendable {
    /// The supported algorithms (RFC 7518 section 3.1). `none` is not supported.
    enum Algorithm: String, Sendable, CaseIterable {
        /// HMAC with SHA-256.
        case hs256 = "HS256"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
    }

    private enum Value: Sendable {
        /// A secret shared by issuer and gateway.
        case secret([UInt8])
        case key(PublicKey)
    }

    struct Mistake: Error, Equatable {
        /// The last part of the configuration's key.
        let member: String
        let rule: String
    }

    /// The shortest secret, in bytes: that of the hash (RFC 7518 section 3.2).
    static let shortestSecret = 32
    /// The shortest RSA key, in bits (RFC 7518 section 3.3).
    static let shortestModulus = 2048

    let algorithm: Algorithm
    /// The identifier by which tokens may name the key; nil: none.
    let identifier: String?
    /// The digest of the key with its identifier, by which callers remember the key.
    let digest: [UInt8]
    private let value: Value

    private init(identifier: String? = nil, _ value: Value) {
        let text: String
        switch value {
        case .secret(let bytes): (algorithm, text) = (.hs256, "secret \(Base64URL.encode(bytes))")
        case .key(let key): (algorithm, text) = (key.kind == .rsa ? .rs256 : .es256, key.pem)
        }
        (self.identifier, self.value) = (identifier, value)
        digest = KeyHash.digest(of: "\(identifier ?? "") \(text)")
    }

    /// Whether a signature over some bytes was made with this key.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        switch value {
        case .secret(let secret): SHA256.areEqual(signature, SHA256.code(of: bytes, key: secret))
        case .key(let key): key.verifies(signature, of: bytes)
        }
    }

    /// All keys of a configuration; throws the first mistake.
    static func read(_ configuration: WebTokenConfiguration) throws(Mistake) -> [KeyMaterial] {
        var materials: [KeyMaterial] = []
        if let secret = configuration.secret { materials.append(try self.secret(secret)) }
        if let text = configuration.publicKey { materials.append(try publicKey(text)) }
        if let text = configuration.keySet {
            let (keys, skipped) = try keySet(text)
            guard !keys.isEmpty else {
                let rule = "must hold a public key: RSA of 2048 bits or more for RS256, or EC P-256 for ES256"
                let others = skipped.isEmpty ? "" : "; \(self.text(of: skipped)) cannot be used"
                throw Mistake(member: "jwks", rule: rule + others)
            }
            materials += keys
        }
        return materials
    }

    /// The keys of a JWK set, and the positions of keys for signatures that cannot be used and are skipped (RFC 7517 section
    /// 5): one of them must not keep the others from coming and going. Throws for a text that is no JWK set.
    static func keySet(_ text: String) throws(Mistake) -> (keys: [KeyMaterial], skipped: [Int]) {
        guard let set = try? JSONValue(parsing: text), let keys = set["keys"]?.array, keys.count <= 100 else {
            throw Mistake(member: "jwks", rule: "must be a JWK set: an object with a list \"keys\" of at most 100")
        }
        var materials: [KeyMaterial] = []
        var skipped: [Int] = []
        for (index, key) in keys.enumerated() where isForSignatures(key) {
            if let value = value(of: key) {
                materials.append(KeyMaterial(identifier: key["kid"]?.string, value))
            } else {
                skipped.append(index)
            }
        }
        return (materials, skipped)
    }

    /// Positions of keys in a JWK set as text.
    static func text(of positions: [Int]) -> String { positions.map { "keys[\($0)]" }.joined(separator: ", ") }

    private static func secret(_ text: String) throws(Mistake) -> KeyMaterial {
        let bytes = Array(text.utf8)
        guard bytes.count >= shortestSecret else {
            throw Mistake(member: "secret", rule: "must have \(shortestSecret) bytes or more")
        }
        return KeyMaterial(.secret(bytes))
    }

    private static func publicKey(_ text: String) throws(Mistake) -> KeyMaterial {
        guard let key = PublicKey(pem: text), isLongEnough(key) else {
            throw Mistake(member: "publicKey", rule: "must be a PEM public key: RSA of 2048 bits or more, or EC P-256")
        }
        return KeyMaterial(.key(key))
    }

    /// Key sets of identity providers also hold keys for other uses and algorithms, which are skipped.
    private static func isForSignatures(_ key: JSONValue) -> Bool {
        if let use = key["use"]?.string, use != "sig" { return false }
        let operations = key["key_ops"]?.array
        if operations?.contains(where: { $0.string == "verify" }) == false { return false }
        switch key["kty"]?.string {
        case "RSA": return key["alg"] == nil || key["alg"]?.string == "RS256"
        case "EC": return key["crv"]?.string == "P-256" && (key["alg"] == nil || key["alg"]?.string == "ES256")
        default: return false
        }
    }

    private static func value(of key: JSONValue) -> Value? {
        if key["kty"]?.string == "RSA" {
            guard let modulus = number(key["n"]), let exponent = number(key["e"]),
                let key = PublicKey(modulus: modulus, exponent: exponent), isLongEnough(key)
            else { return nil }
            return .key(key)
        }
        guard let x = coordinate(key["x"]), let y = coordinate(key["y"]),
            let key = PublicKey(x: x, y: y)
        else { return nil }
        return .key(key)
    }

    private static func coordinate(_ value: JSONValue?) -> [UInt8]? {
        guard let bytes = number(value), bytes.count == 32 else { return nil }
        return bytes
    }

    private static func number(_ value: JSONValue?) -> [UInt8]? {
        guard let text = value?.string else { return nil }
        return Base64URL.decode(text.utf8)
    }

    private static func isLongEnough(_ key: PublicKey) -> Bool { key.kind == .p256 || key.bits >= shortestModulus }
}
