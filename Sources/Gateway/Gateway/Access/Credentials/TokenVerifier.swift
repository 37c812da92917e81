internal import JSONText

/// Verifies tokens and reads the rights that they give (RFC 7519, with the advice of RFC 8725).
package struct TokenVerifier: Sendable {
    private let configuration: WebTokenConfiguration
    private let keys: [KeyMaterial]
    private let digests: Set<[UInt8]>
    /// Whether the JWK set of the configured URL is not loaded yet.
    let lacksKeySet: Bool

    /// A verifier with the keys of a configuration, and those of the JWK set of its URL; throws the mistake in a key.
    ///
    /// - Parameter loaded: That JWK set; nil: it is not loaded yet, or there is no URL.
    init(_ configuration: WebTokenConfiguration, loaded: String? = nil) throws {
        self.configuration = configuration
        lacksKeySet = configuration.keySetURL != nil && loaded == nil
        keys = try KeyMaterial.read(configuration) + (loaded.map { try KeyMaterial.keySet($0).keys } ?? [])
        digests = Set(keys.map(\.digest))
    }

    func hasKey(_ digest: [UInt8]) -> Bool { digests.contains(digest) }

    /// The holder of a token, with its rights.
    ///
    /// - Parameter now: Seconds since 1970.
    func caller(of text: String, now: Double) throws(TokenRefusal) -> Caller {
        let token = try WebToken(text)
        try checkHeader(token.header)
        let key = try key(of: token)
        let expiry = try checkTimes(token.claims, now: now)
        try checkOrigin(token.claims)
        guard let subject = token.claims[configuration.claims.subject]?.string, !subject.isEmpty,
            subject.utf8.count <= 255
        else { throw .subject }
        var caller = Caller(identity: Self.identity(of: subject), rights: try rights(token.claims))
        caller.expiry = expiry
        caller.verifiedBy = key.digest
        return caller
    }

    /// The identity of a subject, percent-encoded: subjects with similar characters stay different, and control
    /// characters do not reach a log line.
    static func identity(of subject: String) -> String { identityPrefix + PercentDecoding.encode(subject) }

    /// Whether an identity is that of a token, not that of a key.
    package static func isIdentity(_ identity: String) -> Bool { identity.hasPrefix(identityPrefix) }

    private static let identityPrefix = "jwt:"

    private func checkHeader(_ header: JSONObject) throws(TokenRefusal) {
        // Critical parameters must be supported (RFC 7515 section 4.1.11); the gateway supports none.
        if header["crit"] != nil { throw .header }
        if let type = header["typ"] {
            // A type without a slash stands for one of `application/` (RFC 7515 section 4.1.9).
            let types = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
            guard let type = type.string?.lowercased(), types.contains(type) else { throw .header }
        }
    }

    private func key(of token: WebToken) throws(TokenRefusal) -> KeyMaterial {
        guard let name = token.header["alg"]?.string, let algorithm = KeyMaterial.Algorithm(rawValue: name) else {
            throw .algorithm
        }
        let candidates = keys.filter { $0.algorithm == algorithm }
        let identifier = token.header["kid"]?.string
        let named = candidates.filter { identifier == nil || $0.identifier == nil || $0.identifier == identifier }
        if let key = named.first(where: { $0.verifies(token.signature, of: token.signedBytes) }) { return key }
        // The key may be in the set, which has public keys only.
        if lacksKeySet, algorithm != .hs256 { throw .withoutKeySet }
        if candidates.isEmpty { throw .algorithm }
        throw named.isEmpty ? .identifier : .signature
    }

    private func checkTimes(_ claims: JSONObject, now: Double) throws(TokenRefusal) -> Double {
        let leeway = configuration.leeway / .seconds(1)
        guard let value = claims["exp"] else { throw .withoutExpiry }
        guard let expiry = value.number?.doubleValue else { throw .malformed }
        if now - leeway >= expiry { throw .expired }
        if let value = claims["nbf"] {
            guard let start = value.number?.doubleValue else { throw .malformed }
            if now + leeway < start { throw .early }
        }
        var issued = now
        if let value = claims["iat"] {
            guard let time = value.number?.doubleValue else { throw .malformed }
            issued = min(time, now)
        }
        if expiry - issued > configuration.longestLifetime / .seconds(1) + leeway { throw .lifetime }
        return expiry + leeway
    }

    private func checkOrigin(_ claims: JSONObject) throws(TokenRefusal) {
        // The bytes are compared: canonically equivalent names stay different (RFC 7519 section 7.3).
        if let issuer = configuration.issuer {
            guard claims["iss"]?.string?.hasSameBytes(as: issuer) ?? false else { throw .issuer }
        }
        switch (configuration.audience, claims["aud"]) {
        case (nil, nil): break
        case (let audience?, .string(let named)?):
            if !named.hasSameBytes(as: audience) { throw .audience }
        case (let audience?, .array(let named)?):
            if !named.contains(where: { $0.string?.hasSameBytes(as: audience) ?? false }) { throw .audience }
        default: throw .audience
        }
    }

    // MARK: - Rights

    private func rights(_ claims: JSONObject) throws(TokenRefusal) -> Rights {
        var rights = configuration.rights
        let names = configuration.claims
        if let words = try words(claims[names.operations], .operations) {
            // A scope may hold words of other services, which are ignored.
            rights.operations = Set(words.compactMap(Right.init(rawValue:)))
        }
        if let patterns = try patterns(claims[names.upstreams], .upstreams) { rights.upstreams = patterns }
        if let patterns = try patterns(claims[names.items], .items) { rights.items = patterns }
        if let patterns = try patterns(claims[names.dataAdapters], .dataAdapters) { rights.dataAdapters = patterns }
        if let patterns = try patterns(claims[names.feeds], .feeds) { rights.feeds = patterns }
        if rights.feeds != nil {
            // A token that lists feeds alone may use all of their data.
            if rights.upstreams.isEmpty, claims[names.upstreams] == nil { rights.upstreams = [WildcardPattern("*")] }
            if rights.items.isEmpty, claims[names.items] == nil { rights.items = [WildcardPattern("*")] }
        }
        if let value = claims[names.streams] {
            guard let number = value.number?.intValue, number >= 0 else { throw .streams }
            rights.streams = min(number, Rights.mostStreams)
        }
        if let value = claims[names.rate] {
            guard let number = value.number?.doubleValue, number > 0 else { throw .rate }
            let range = RateConfiguration.range
            rights.rate = min(max(number, range.lowerBound), range.upperBound)
        }
        return rights
    }

    private func patterns(_ value: JSONValue?, _ refusal: TokenRefusal) throws(TokenRefusal) -> [WildcardPattern]? {
        try words(value, refusal)?.map { WildcardPattern($0) }
    }

    /// The words of a claim; throws `refusal` for a claim of another type.
    private func words(_ value: JSONValue?, _ refusal: TokenRefusal) throws(TokenRefusal) -> [String]? {
        switch value {
        case nil: return nil
        case .string(let text)?: return text.split(separator: " ").map(String.init)
        case .array(let values)?:
            let words = values.compactMap(\.string)
            guard words.count == values.count else { throw refusal }
            return words
        default: throw refusal
        }
    }
}
