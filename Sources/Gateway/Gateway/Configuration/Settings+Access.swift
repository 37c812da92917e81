extension Settings {
    /// The settings of authentication, authorization and rate limits.
    static let access: [Setting] = authentication + network + keys + webTokens + claims + limits

    private static let authentication: [Setting] = {
        let access = SettingGroup("", \.access)
        return [
            access.setting("auth", .list(of: "keys, jwt; or none")) { _ in
                "what is configured; none on loopback"
            } apply: { access, text throws(SettingError) in
                access.configuredModes = try modes(text)
            }
            .means("How callers authenticate; required to listen on an address other than loopback."),
            access.setting("auth.cookie", .text("a name, or -")) {
                $0.cookie ?? "-"
            } apply: { access, text throws(SettingError) in
                // A token (RFC 9110 section 5.6.2).
                guard text.isLettersDigits(and: "!#$%&'*+-.^_`|~", length: 1...Int.max) else {
                    throw SettingError(rule: "must be the name of a cookie")
                }
                access.cookie = text == "-" ? nil : text
            }
            .means("The cookie that may carry a key or token; -: no cookie."),
            access.seconds("auth.ticketLifetime", \.ticketLifetime, most: 3600)
                .means("How long a ticket can be used to open a stream."),
        ]
    }()

    private static let network: [Setting] = {
        let access = SettingGroup("", \.access)
        return [
            access.setting("http.hosts", .list(of: "host names")) {
                SettingValue.text($0.hosts)
            } apply: { access, text throws(SettingError) in
                access.hosts = try SettingValue.elements(text, "a host name, or an IPv6 address in brackets") { host in
                    let name = KnownHosts.name(of: host)
                    return KnownHosts.isName(name) ? name : nil
                }
            }
            .means("The host names, besides loopback names, that requests may have while auth is none."),
            access.setting("http.trustedProxies", .list(of: "addresses and networks, such as 10.0.0.0/8")) {
                SettingValue.text($0.trustedProxies.map(\.description))
            } apply: { access, text throws(SettingError) in
                let expectation = "an address, or a network such as 10.0.0.0/8"
                access.trustedProxies = try SettingValue.elements(text, expectation) { IPNetwork($0) }
            }
            .means(
                "The proxies whose X-Forwarded-For or Forwarded header gives the client address for limits and logs."
            ),
            access.setting("cors.origins", .list(of: "origins, * for any")) {
                SettingValue.text($0.origins)
            } apply: { access, text throws(SettingError) in
                let expectation = "an origin, such as https://example.com, without a path"
                access.origins = try SettingValue.elements(text, expectation) { isOrigin($0) ? $0 : nil }
            }
            .means("The origins whose web pages may use the gateway."),
        ]
    }()

    private static let keys: [Setting] = {
        let key = SettingGroup("auth.keys.*.", each: \.access.keys, \.name) { KeyConfiguration(name: $1) }
        let hash = key.setting("hash", .text("sha256:HEX")) { _ in
            "required"
        } apply: { key, text throws(SettingError) in
            guard let hash = KeyHash(text) else { throw SettingError(rule: "must be sha256: and 64 hex digits") }
            key.hash = hash
        }
        .means("API key: its hash, as lightstreamer-gateway key prints it.")
        let meaning: (String) -> String = { "API key: \($0)." }
        return [hash]
            + rights(key.narrowed(to: \.rights), absence: "no limit of its own", quotaMeaning: meaning, meaning)
    }()

    private static let webTokens: [Setting] = {
        let token = SettingGroup("auth.jwt.", \.access.webTokens)
        let verification = [
            token.secret("secret", "a secret", \.secret).means("The secret of HS256 tokens, 32 bytes or more."),
            token.secret("publicKey", "PEM", \.publicKey).means("The public key of RS256 or ES256 tokens."),
            token.secret("jwks", "JSON", \.keySet).means("A JWK set with the public keys of RS256 and ES256 tokens."),
            token.setting("jwksURL", .text("an https URL")) {
                $0.keySetURL ?? "none"
            } apply: { tokens, text throws(SettingError) in
                guard KeySetLoader.accepts(text) else {
                    throw SettingError(rule: "must be an https URL, or an http URL of a loopback address")
                }
                tokens.keySetURL = text
            }
            .means("The URL of a JWK set, which the gateway loads and refreshes."),
            token.seconds("jwksRefresh", \.keySetRefresh, most: 86_400)
                .means("The interval at which the JWK set is loaded."),
            token.text("issuer", "text", \.issuer, default: "any").means("The issuer that tokens must have."),
            token.text("audience", "text", \.audience)
                .means("The audience that tokens must have; none: they must have none."),
            token.seconds("leeway", \.leeway, zeroAllowed: true, most: 600)
                .means("The largest difference between the clocks of issuer and gateway."),
            token.seconds("maxLifetime", \.longestLifetime, most: 31_622_400)
                .means(
                    "The longest time from the issue of a token to its expiry; tokens with a longer one are refused."
                ),
        ]
        let meaning: (String) -> String = { "Tokens without such a claim: \($0)." }
        let quotaMeaning: (String) -> String = { "Each subject of tokens: \($0)." }
        return verification
            + rights(token.narrowed(to: \.rights), absence: "no limit", quotaMeaning: quotaMeaning, meaning)
    }()

    private static let claims: [Setting] = {
        let claim = SettingGroup("auth.jwt.claims.", \.access.webTokens.claims)
        let paths: [(String, SettingGroup<WebTokenConfiguration.Claims>.Path<String>, String)] = [
            ("subject", \.subject, "the identity of the holder"),
            ("operations", \.operations, "the permitted operations"),
            ("upstreams", \.upstreams, "the patterns of upstreams"),
            ("items", \.items, "the patterns of items"),
            ("dataAdapters", \.dataAdapters, "the patterns of data adapters"),
            ("feeds", \.feeds, "the patterns of feeds"),
            ("streams", \.streams, "the number of streams"),
            ("rate", \.rate, "the requests a second"),
        ]
        return paths.map { key, path, content in
            claim.setting(key, .text("a name")) {
                $0[keyPath: path]
            } apply: { claims, text throws(SettingError) in
                if text.isEmpty { throw SettingError(rule: "must not be empty") }
                claims[keyPath: path] = text
            }
            .means("The claim that holds \(content).")
        }
    }()

    private static let limits: [Setting] = {
        let limits = SettingGroup("limits.", \.access.limits)
        let burst = 1...10_000_000
        return [
            limits.setting("rate", .number("requests a second")) {
                SettingValue.text($0.rate)
            } apply: { limits, text throws(SettingError) in
                limits.rate = SettingValue.decimal(text) == 0 ? 0 : try rate(text, orElse: ", or 0 for no limit")
            }
            .means("The request rate of one address; 0: no limit."),
            limits.setting("burst", .integer(burst, unit: nil)) {
                SettingValue.text($0.burst)
            } apply: { limits, text throws(SettingError) in
                let number: Int = try SettingValue.integer(text, burst)
                limits.burst = Double(number)
            }
            .means("The most requests of one address that are accepted at once."),
            limits.flag("loopback", \.countsLoopback)
                .means("Whether the limits of an address also count loopback addresses."),
            limits.integer("maxSubscriptions", \.maxSubscriptions, 0...100_000_000)
                .means("The most subscriptions that requests of one address without credentials use on one replica."),
            limits.integer("maxItems", \.maxItems, 0...100_000_000).means("The most items of these subscriptions."),
        ]
    }()
}

// MARK: - Rights

extension Settings {
    /// The settings of the rights of keys and of tokens.
    ///
    /// - Parameter quotaMeaning: The meaning of the quotas, for which tokens have no claims.
    private static func rights(
        _ rights: SettingGroup<Rights>,
        absence: String,
        quotaMeaning: (String) -> String,
        _ meaning: (String) -> String
    ) -> [Setting] {
        let quota = 0...100_000_000
        return [
            rights.setting("operations", .list(of: words)) { rights in
                SettingValue.text(Right.allCases.filter(rights.operations.contains).map(\.rawValue))
            } apply: { rights, text throws(SettingError) in
                rights.operations = Set(try SettingValue.choices(text))
            }
            .means(meaning("the permitted operations")),
            patterns(rights, "upstreams", \.upstreams).means(meaning("the permitted upstreams")),
            patterns(rights, "items", \.items).means(meaning("the permitted items")),
            rights.setting("dataAdapters", .list(of: "patterns with *")) {
                $0.dataAdapters.map { SettingValue.text($0.map(\.description)) } ?? "all with all items; else DEFAULT"
            } apply: { rights, text throws(SettingError) in
                rights.dataAdapters = SettingValue.list(text).filter { !$0.isEmpty }.map { WildcardPattern($0) }
            }
            .means(meaning("the permitted data adapters, also with selectors; DEFAULT is the one without a name")),
            rights.setting("feeds", .list(of: "patterns with *")) {
                $0.feeds.map { SettingValue.text($0.map(\.description)) } ?? "any data"
            } apply: { rights, text throws(SettingError) in
                rights.feeds = SettingValue.list(text).filter { !$0.isEmpty }.map { WildcardPattern($0) }
            }
            .means(
                meaning("the permitted feeds, whose data alone may be used, as far as upstreams and items permit it")
            ),
            rights.integer("streams", \.streams, 0...Rights.mostStreams, default: absence)
                .means(meaning("the most open streams")),
            rights.integer("maxSubscriptions", \.maxSubscriptions, quota, default: "none")
                .means(quotaMeaning("the most subscriptions in use")),
            rights.integer("maxItems", \.maxItems, quota, default: "none")
                .means(quotaMeaning("the most items of these subscriptions")),
            rights.setting("rate", .number("requests a second")) {
                $0.rate.map { SettingValue.text($0) } ?? absence
            } apply: { rights, text throws(SettingError) in
                rights.rate = try rate(text)
            }
            .means(meaning("the request rate")),
        ]
    }

    private static func patterns(
        _ rights: SettingGroup<Rights>,
        _ key: String,
        _ path: SettingGroup<Rights>.Path<[WildcardPattern]>
    ) -> Setting {
        rights.setting(key, .list(of: "patterns with *")) {
            SettingValue.text($0[keyPath: path].map(\.description))
        } apply: { rights, text throws(SettingError) in
            rights[keyPath: path] = SettingValue.list(text).filter { !$0.isEmpty }.map { WildcardPattern($0) }
        }
    }

    private static let words = Right.allCases.map(\.rawValue).joined(separator: ", ")
}

// MARK: - Values

extension Settings {
    private static func modes(_ text: String) throws(SettingError) -> Set<AccessConfiguration.Mode> {
        let modes = Set<AccessConfiguration.Mode>(try SettingValue.choices(text))
        if modes.isEmpty || (modes.contains(.none) && modes.count > 1) {
            throw SettingError(rule: "must be none alone, or keys, jwt, or both")
        }
        return modes
    }

    /// - Parameter other: The other value that the setting admits, as the end of a sentence.
    private static func rate(_ text: String, orElse other: String = "") throws(SettingError) -> Double {
        guard let rate = SettingValue.decimal(text), RateConfiguration.range.contains(rate) else {
            let (least, most) = (RateConfiguration.range.lowerBound, RateConfiguration.range.upperBound)
            throw SettingError(
                rule: "must be a number of requests a second, \(SettingValue.text(least)) to \(SettingValue.text(most))"
                    + other
            )
        }
        return rate
    }

    private static func isOrigin(_ text: String) -> Bool {
        if text == "*" { return true }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty && !parts[2].isEmpty
            && text == text.lowercased() && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }
}
