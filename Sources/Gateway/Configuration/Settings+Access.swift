internal import MicroHTTPD

extension Settings {
    /// The keys about who may come in, and how often.
    static let access: [Setting] = modes + keys + webTokens + claims + limits

    /// The keys about encryption.
    static let tls: [Setting] = [
        Setting(
            "http.tls.certificate",
            "PEM",
            default: "none",
            "The certificate, with its intermediate ones.",
            isSecret: true
        ) {
            all,
            _,
            text in
            all.http.certificate = .init(chain: text, key: all.http.certificate?.key ?? "")
        },
        Setting("http.tls.key", "PEM", default: "none", "The certificate's private key, not encrypted.", isSecret: true)
        {
            all,
            _,
            text in
            all.http.certificate = .init(chain: all.http.certificate?.chain ?? "", key: text)
        },
    ]

    private static let modes: [Setting] = [
        Setting(
            "auth",
            "none, or a list of keys, jwt",
            default: "what is configured; none on loopback",
            "How callers prove who they are; must be said to listen on another address."
        ) { all, _, text throws(SettingError) in
            var modes: Set<AccessConfiguration.Mode> = []
            for word in SettingValue.list(text) { modes.insert(try SettingValue.choice(word)) }
            if modes.isEmpty || (modes.contains(.none) && modes.count > 1) {
                throw SettingError(rule: "must be none alone, or keys, jwt, or both")
            }
            all.access.written = modes
        },
        Setting(
            "auth.cookie",
            "a name, or -",
            default: "gateway_token",
            "The cookie that may carry a key or token; -: none may."
        ) { all, _, text throws(SettingError) in
            guard text.utf8.allSatisfy({ $0.isTokenCharacter }), !text.isEmpty else {
                throw SettingError(rule: "must be the name of a cookie")
            }
            all.access.cookie = text == "-" ? nil : text
        },
        Setting("auth.ticketLifetime", "seconds", default: "30", "How long a ticket waits for its stream.") {
            all,
            _,
            text throws(SettingError) in
            all.access.ticketLifetime = try SettingValue.duration(text)
            if all.access.ticketLifetime > .seconds(3600) { throw SettingError(rule: "must be 3600 or less") }
        },
        Setting(
            "cors.origins",
            "a list of origins, * for any",
            default: "none",
            "The web pages of other origins that may use the gateway."
        ) { all, _, text throws(SettingError) in
            let origins = SettingValue.list(text)
            for origin in origins where origin != "*" && !isOrigin(origin) {
                throw SettingError(rule: "\"\(origin)\" must be an origin, such as https://example.com, without a path")
            }
            all.access.origins = origins
        },
    ]

    private static let keys: [Setting] = [
        key("hash", "sha256:HEX", "required", "The hash of the key, as lightstreamer-gateway key prints it.") {
            key,
            text throws(SettingError) in
            guard let hash = KeyHash(text) else { throw SettingError(rule: "must be sha256: and 64 hex digits") }
            key.hash = hash
        },
        key("operations", "a list of read, subscribe, manage, send", "read, subscribe", "What its holder may do.") {
            key,
            text throws(SettingError) in
            key.rights.operations = try operations(text)
        },
        key("upstreams", "a list of patterns with *", "*", "With which upstreams.") { key, text throws(SettingError) in
            key.rights.upstreams = patterns(text)
        },
        key("items", "a list of patterns with *", "*", "With which items.") { key, text throws(SettingError) in
            key.rights.items = patterns(text)
        },
        key("streams", "number", "no limit of its own", "How many streams its holder may have open.") {
            key,
            text throws(SettingError) in
            key.rights.streams = try SettingValue.integer(text, 0...1_000_000)
        },
        key("rate", "requests a second", "no limit of its own", "How often its holder may come.") {
            key,
            text throws(SettingError) in
            key.rights.rate = try rate(text)
        },
    ]

    private static let webTokens: [Setting] = [
        secret("secret", "a secret", "The secret of HS256 tokens, 32 bytes or more.", \.secret),
        secret("publicKey", "PEM", "The public key of RS256 or ES256 tokens.", \.publicKey),
        secret("jwks", "JSON", "A JWK set with the public keys of RS256 and ES256 tokens.", \.keySet),
        Setting("auth.jwt.issuer", "text", default: "any", "The issuer that tokens must have.") { all, _, text in
            all.access.webTokens.issuer = text
        },
        Setting(
            "auth.jwt.audience",
            "text",
            default: "none",
            "The audience that tokens must have; without it they may have none."
        ) { all, _, text in
            all.access.webTokens.audience = text
        },
        Setting("auth.jwt.leeway", "seconds", default: "30", "How far the clocks of issuer and gateway may differ.") {
            all,
            _,
            text throws(SettingError) in
            all.access.webTokens.leeway = try SettingValue.duration(text, zeroAllowed: true)
            if all.access.webTokens.leeway > .seconds(600) { throw SettingError(rule: "must be 600 or less") }
        },
        token("operations", "a list of read, subscribe, manage, send", "may do") { rights, text throws(SettingError) in
            rights.operations = try operations(text)
        },
        token("upstreams", "a list of patterns with *", "may use of upstreams") { rights, text throws(SettingError) in
            rights.upstreams = patterns(text)
        },
        token("items", "a list of patterns with *", "may use of items") { rights, text throws(SettingError) in
            rights.items = patterns(text)
        },
        token("streams", "number", "may have open of streams") { rights, text throws(SettingError) in
            rights.streams = try SettingValue.integer(text, 0...1_000_000)
        },
        token("rate", "requests a second", "may ask") { rights, text throws(SettingError) in
            rights.rate = try rate(text)
        },
    ]

    private static let claims: [Setting] = [
        claim("subject", "sub", "whom a token stands for", \.subject),
        claim("operations", "operations", "what its holder may do", \.operations),
        claim("upstreams", "upstreams", "the patterns of upstreams", \.upstreams),
        claim("items", "items", "the patterns of items", \.items),
        claim("streams", "streams", "the number of streams", \.streams),
        claim("rate", "rate", "the requests a second", \.rate),
    ]

    private static let limits: [Setting] = [
        Setting("limits.rate", "requests a second", default: "100", "How often one address may come; 0: no limit.") {
            all,
            _,
            text throws(SettingError) in
            all.access.limits.rate = text == "0" ? 0 : try rate(text)
        },
        Setting("limits.burst", "number", default: "200", "How many requests of one address may come at once.") {
            all,
            _,
            text throws(SettingError) in
            all.access.limits.burst = Double(try SettingValue.integer(text, 1...10_000_000))
        },
        Setting(
            "limits.loopback",
            "true, false",
            default: "false",
            "Whether this machine's own addresses are limited too."
        ) {
            all,
            _,
            text throws(SettingError) in
            all.access.limits.countsLoopback = try SettingValue.boolean(text)
        },
    ]

    // MARK: - Families of keys

    private static func key(
        _ member: String,
        _ values: String,
        _ defaultValue: String,
        _ meaning: String,
        apply: @escaping @Sendable (inout KeyConfiguration, String) throws(SettingError) -> Void
    ) -> Setting {
        Setting("auth.keys.*.\(member)", values, default: defaultValue, "API key: \(meaning)") {
            all,
            name,
            text throws(SettingError) in
            let index = all.access.indexOfKey(name)
            try apply(&all.access.keys[index], text)
        }
    }

    private static func secret(
        _ member: String,
        _ values: String,
        _ meaning: String,
        _ path: any WritableKeyPath<WebTokenConfiguration, String?> & Sendable
    ) -> Setting {
        Setting("auth.jwt.\(member)", values, default: "none", meaning, isSecret: true) { all, _, text in
            all.access.webTokens[keyPath: path] = text
        }
    }

    private static func token(
        _ member: String,
        _ values: String,
        _ meaning: String,
        apply: @escaping @Sendable (inout Rights, String) throws(SettingError) -> Void
    ) -> Setting {
        Setting(
            "auth.jwt.\(member)",
            values,
            default: "nothing",
            "What holders of tokens without such a claim \(meaning)."
        ) { all, _, text throws(SettingError) in
            try apply(&all.access.webTokens.rights, text)
        }
    }

    private static func claim(
        _ member: String,
        _ defaultValue: String,
        _ meaning: String,
        _ path: any WritableKeyPath<WebTokenConfiguration.Claims, String> & Sendable
    ) -> Setting {
        Setting("auth.jwt.claims.\(member)", "a name", default: defaultValue, "The claim that holds \(meaning).") {
            all,
            _,
            text throws(SettingError) in
            if text.isEmpty { throw SettingError(rule: "must not be empty") }
            all.access.webTokens.claims[keyPath: path] = text
        }
    }

    // MARK: - Values

    private static func operations(_ text: String) throws(SettingError) -> Set<Right> {
        var rights: Set<Right> = []
        for word in SettingValue.list(text) { rights.insert(try SettingValue.choice(word)) }
        return rights
    }

    private static func patterns(_ text: String) -> [WildcardPattern] {
        SettingValue.list(text).filter { !$0.isEmpty }.map { WildcardPattern($0) }
    }

    private static func rate(_ text: String) throws(SettingError) -> Double {
        guard let rate = Double(text), rate >= 0.001, rate <= 1e6 else {
            throw SettingError(rule: "must be a number of requests a second, 0.001 to 1000000")
        }
        return rate
    }

    private static func isOrigin(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty && !parts[2].isEmpty
            && text == text.lowercased() && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}

extension AccessConfiguration {
    /// The place of the key of a name, which is added if it is new.
    mutating func indexOfKey(_ name: String) -> Int {
        if let index = keys.firstIndex(where: { $0.name == name }) { return index }
        keys.append(KeyConfiguration(name: name))
        return keys.count - 1
    }
}

extension UInt8 {
    /// Whether a name of a header or cookie may hold the character (RFC 9110 section 5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
