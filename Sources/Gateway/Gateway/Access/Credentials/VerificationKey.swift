internal import JSONText
internal import JWTKit

/// A key that verifies signatures. The algorithm belongs to the key and is never taken from the token.
struct VerificationKey: Sendable {
    /// The supported algorithms (RFC 7518 section 3.1). `none` is not supported.
    enum Algorithm: String, Sendable, CaseIterable {
        /// HMAC with SHA-256.
        case hs256 = "HS256"
        /// RSASSA-PKCS1-v1_5 with SHA-256.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
    }

    /// The algorithm of the key.
    let algorithm: Algorithm
    /// The identifier by which tokens may name the key; nil: none.
    let identifier: String?
    /// The digest of the key with its identifier, by which callers remember the key.
    let digest: [UInt8]
    private let signer: any JWTAlgorithm

    /// A key made of key material.
    init(_ material: KeyMaterial) async throws {
        let collection = JWTKeyCollection()
        switch material.value {
        case .secret(let bytes):
            algorithm = .hs256
            await collection.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
        case .rsa(let key):
            algorithm = .rs256
            await collection.add(rsa: key, digestAlgorithm: .sha256)
        case .ecdsa(let key):
            algorithm = .es256
            await collection.add(ecdsa: key)
        }
        identifier = material.identifier
        digest = material.digest
        signer = try await collection.getKey()
    }

    /// Whether a signature over some bytes was made with this key.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        (try? signer.verify(signature, signs: bytes)) ?? false
    }
}

/// A key of the configuration, parsed and checked.
struct KeyMaterial: Sendable {
    /// The kinds of keys.
    enum Value: Sendable {
        /// A secret shared by issuer and gateway.
        case secret([UInt8])
        /// The public key of RSA.
        case rsa(Insecure.RSA.PublicKey)
        /// The public key on the curve P-256.
        case ecdsa(ES256PublicKey)
    }

    /// A mistake in a key.
    struct Mistake: Error, Equatable {
        /// The last part of the configuration's key.
        let member: String
        /// The rule that it breaks.
        let rule: String
    }

    /// The shortest secret, in bytes: that of the hash (RFC 7518 section 3.2).
    static let shortestSecret = 32
    /// The shortest RSA key, in bytes (RFC 7518 section 3.3).
    static let shortestModulus = 256

    /// The identifier by which tokens may name the key; nil: none.
    var identifier: String?
    /// The key.
    let value: Value

    /// The digest of the key with its identifier.
    var digest: [UInt8] {
        let text =
            switch value {
            case .secret(let bytes): "secret \(Base64URL.encode(bytes))"
            case .rsa(let key): key.pemRepresentation
            case .ecdsa(let key): key.pemRepresentation
            }
        return KeyHash.digest(of: "\(identifier ?? "") \(text)")
    }

    /// All keys of a configuration; throws the first mistake.
    static func read(_ configuration: WebTokenConfiguration) throws(Mistake) -> [KeyMaterial] {
        var materials: [KeyMaterial] = []
        if let secret = configuration.secret { materials.append(try self.secret(secret)) }
        if let text = configuration.publicKey { materials.append(try publicKey(text)) }
        if let text = configuration.keySet { materials += try keySet(text) }
        return materials
    }

    private static func secret(_ text: String) throws(Mistake) -> KeyMaterial {
        let bytes = Array(text.utf8)
        guard bytes.count >= shortestSecret else {
            throw Mistake(member: "secret", rule: "must have \(shortestSecret) bytes or more")
        }
        return KeyMaterial(value: .secret(bytes))
    }

    private static func publicKey(_ text: String) throws(Mistake) -> KeyMaterial {
        if let key = try? ES256PublicKey(pem: text) { return KeyMaterial(value: .ecdsa(key)) }
        if let key = try? Insecure.RSA.PublicKey(pem: text), isLongEnough(key) { return KeyMaterial(value: .rsa(key)) }
        throw Mistake(member: "publicKey", rule: "must be a PEM public key: RSA of 2048 bits or more, or EC P-256")
    }

    private static func keySet(_ text: String) throws(Mistake) -> [KeyMaterial] {
        guard let set = try? JSONValue(parsing: text), let keys = set["keys"]?.array, keys.count <= 100 else {
            throw Mistake(member: "jwks", rule: "must be a JWK set: an object with a list \"keys\" of at most 100")
        }
        var materials: [KeyMaterial] = []
        for (index, key) in keys.enumerated() where isForSignatures(key) {
            guard let value = value(of: key) else {
                throw Mistake(
                    member: "jwks",
                    rule:
                        "keys[\(index)] must be a public key: RSA of 2048 bits or more for RS256, or EC P-256 for ES256"
                )
            }
            materials.append(KeyMaterial(identifier: key["kid"]?.string, value: value))
        }
        if materials.isEmpty { throw Mistake(member: "jwks", rule: "must hold a key for RS256 or ES256") }
        return materials
    }

    /// Key sets of identity providers also hold keys for other uses and algorithms, which are skipped.
    private static func isForSignatures(_ key: JSONValue) -> Bool {
        if let use = key["use"]?.string, use != "sig" { return false }
        switch key["kty"]?.string {
        case "RSA": return key["alg"] == nil || key["alg"]?.string == "RS256"
        case "EC":
            return key["crv"]?.string == "P-256" && (key["alg"] == nil || key["alg"]?.string == "ES256")
        default: return false
        }
    }

    private static func value(of key: JSONValue) -> Value? {
        if key["kty"]?.string == "RSA" {
            guard let modulus = key["n"]?.string, let exponent = key["e"]?.string,
                let key = try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent), isLongEnough(key)
            else { return nil }
            return .rsa(key)
        }
        guard let x = coordinate(key["x"]), let y = coordinate(key["y"]),
            let key = try? ES256PublicKey(parameters: (x, y))
        else { return nil }
        return .ecdsa(key)
    }

    private static func coordinate(_ value: JSONValue?) -> String? {
        guard let text = value?.string, Base64URL.decode(text.utf8)?.count == 32 else { return nil }
        return text
    }

    private static func isLongEnough(_ key: Insecure.RSA.PublicKey) -> Bool {
        guard let modulus = try? key.getKeyPrimitives().modulus else { return false }
        return modulus.drop { $0 == 0 }.count >= shortestModulus
    }
}
