import Testing

@testable import Gateway

@Suite struct AccessSettingsTests {
    private static let hash = KeyHash(of: "k").description

    private static func read(_ flags: [(key: String, value: String)], files: [String: String] = [:]) throws
        -> GatewayConfiguration
    {
        var reader = ConfigurationReader(flags: flags, environment: [:], readFile: { files[$0] })
        return try reader.read()
    }

    private static func mistakes(_ flags: [(key: String, value: String)], files: [String: String] = [:]) -> [String] {
        do {
            _ = try read(flags, files: files)
            return []
        } catch {
            return (error as? ConfigurationError)?.mistakes.map { "\($0.key ?? ""): \($0.rule)" } ?? ["\(error)"]
        }
    }

    @Test func keysAreReadWithTheirRights() throws {
        let text = """
            http:
              host: 0.0.0.0
            auth:
              keys:
                dashboard:
                  hash: \(Self.hash)
                  operations: [read, subscribe, send]
                  upstreams: demo
                  items: [item*, "portfolio1"]
                  streams: 20
                  rate: 5
                plain:
                  hash: \(KeyHash(of: "other"))
            """
        let file = try ConfigurationFile(path: "gateway.yaml", text: text)
        var reader = ConfigurationReader(environment: [:], file: file)
        let access = try reader.read().access
        #expect(access.modes == [.keys])
        let key = try #require(access.keys.first { $0.name == "dashboard" })
        #expect(key.rights.operations == [.read, .subscribe, .send])
        #expect(key.rights.covers(upstream: "demo") && !key.rights.covers(upstream: "other"))
        #expect(key.rights.items.map(\.description) == ["item*", "portfolio1"])
        #expect(key.rights.streams == 20)
        #expect(key.rights.rate == 5)
        let plain = try #require(access.keys.first { $0.name == "plain" })
        #expect(plain.rights.operations == [.read, .subscribe])
        #expect(plain.rights.coversAllItems && plain.rights.coversAllUpstreams)
    }

    @Test func keysComeFromTheEnvironmentAsWell() throws {
        let environment = ["GATEWAY_AUTH_KEY_NAMES": "web", "GATEWAY_AUTH_KEYS_WEB_HASH": Self.hash]
        var reader = ConfigurationReader(environment: environment)
        #expect(try reader.read().access.keys.map(\.name) == ["web"])
    }

    @Test func tokensAreReadWithTheirSecretFromAFile() throws {
        let flags = [
            ("auth.jwt.secretFile", "/s"), ("auth.jwt.issuer", "https://a"), ("auth.jwt.leeway", "5"),
            ("auth.jwt.claims.operations", "scope"), ("auth.jwt.items", "item*"), ("http.host", "0.0.0.0"),
        ]
        let access = try Self.read(flags, files: ["/s": String(repeating: "s", count: 40) + "\n"]).access
        #expect(access.modes == [.jwt])
        #expect(access.webTokens.secret?.utf8.count == 40)
        #expect(access.webTokens.issuer == "https://a")
        #expect(access.webTokens.leeway == .seconds(5))
        #expect(access.webTokens.claims.operations == "scope")
        #expect(access.webTokens.rights.items.map(\.description) == ["item*"])
    }

    @Test(arguments: [
        ([("auth", "none"), ("auth.keys.a.hash", hash)], "auth: is none, but"),
        ([("auth", "keys")], "auth: requires API keys"),
        ([("auth", "jwt")], "auth: requires tokens"), ([("auth", "none,keys")], "auth: must be none alone"),
        ([("auth", "magic")], "auth: \"magic\" must be one of"),
        ([("auth.keys.a.items", "x")], "auth.keys.a.hash: is required"),
        ([("auth.keys.a.hash", "sha256:12")], "auth.keys.a.hash: must be sha256:"),
        (
            [("auth.keys.a.hash", hash), ("auth.keys.b.hash", hash)],
            "auth.keys.b.hash: is also the hash of another key"
        ),
        (
            [("auth.keys.a.hash", hash), ("auth.keys.a.operations", "read, fly")],
            "auth.keys.a.operations: \"fly\" must be one of"
        ),
        ([("auth.keys.a b.hash", hash)], "auth.keys.a b: must have a name"),
        ([("auth.jwt.secret", "short")], "auth.jwt.secret:"),
        ([("auth.jwt.jwks", "{}")], "auth.jwt.jwks:"), ([("auth.cookie", "a;b")], "auth.cookie: must be"),
        ([("cors.origins", "example.com")], "cors.origins:"), ([("cors.origins", "https://a/b")], "cors.origins:"),
        ([("limits.rate", "-1")], "limits.rate: must be"),
        ([("auth.ticketLifetime", "7200")], "auth.ticketLifetime: must be"),
        ([("http.hosts", "a.example, https://b.example")], "http.hosts: \"https://b.example\" must be a host name"),
        ([("http.hosts", "*.a.example")], "http.hosts: "), ([("http.hosts", "fd00::1")], "http.hosts: "),
        ([("http.tls.key", "x")], "http.tls.certificate: is required"),
        ([("http.tls.certificate", "x")], "http.tls.certificate:"),
    ])
    func mistakesAreNamed(flags: [(String, String)], expected: String) {
        let mistakes = Self.mistakes(flags.map { (key: $0.0, value: $0.1) })
        #expect(mistakes.contains { $0.hasPrefix(expected) }, "\(mistakes)")
    }

    /// The rule did not name the 0, and 0.0 was refused.
    @Test func anAddressMayHaveNoRateLimit() throws {
        for zero in ["0", "0.0"] { #expect(try Self.read([("limits.rate", zero)]).access.limits.rate == 0) }
        let rule = "must be a number of requests a second, 0.001 to 1000000"
        #expect(Self.mistakes([("limits.rate", "-1")]) == ["limits.rate: \(rule), or 0 for no limit"])
        #expect(Self.mistakes([("auth.jwt.rate", "0")]) == ["auth.jwt.rate: \(rule)"])
    }

    /// The quotas of tokens have no claims.
    @Test func claimsAreNamedOnlyWhereThereAreSome() {
        let (tokens, keys) = ("auth.jwt.", Settings.all.map(\.key))
        let ofClaims = Settings.all.filter { $0.meaning.hasPrefix("Tokens without such a claim: ") }.map(\.key)
        let claims = keys.filter { $0.hasPrefix(tokens + "claims.") && $0 != tokens + "claims.subject" }
        #expect(Set(ofClaims) == Set(claims.map { $0.replacing("claims.", with: "") }))
        let quotas = Settings.all.filter { $0.meaning.hasPrefix("Each subject of tokens: ") }.map(\.key)
        #expect(quotas == [tokens + "maxSubscriptions", tokens + "maxItems"])
    }

    @Test func allMistakesOfTheKeysAreNamed() {
        let keys = [("auth.jwt.secret", "short"), ("auth.jwt.publicKey", "x"), ("auth.jwt.jwks", "{}")]
        let mistakes = Self.mistakes(keys)
        #expect(mistakes.count == 3, "\(mistakes)")
        for key in keys { #expect(mistakes.contains { $0.hasPrefix("\(key.0): must") }, "\(key.0): \(mistakes)") }
        let missing = Self.mistakes([("auth", "keys, jwt")])
        #expect(missing.count == 2 && missing[0].hasPrefix("auth: requires API keys"), "\(missing)")
        #expect(missing.last?.hasPrefix("auth: requires tokens") == true)
    }

    @Test func hostsAreKnownWithoutTheirPorts() throws {
        let flags = [(key: "http.hosts", value: "A.Example:8080, b_c.example., 192.0.2.1, [fd00::1]:80")]
        #expect(try Self.read(flags).access.hosts == ["a.example", "b_c.example", "192.0.2.1", "[fd00::1]"])
    }

    @Test func anotherAddressIsOpenedByKeysButNotByNothing() throws {
        let outside = [(key: "http.host", value: "0.0.0.0")]
        #expect(Self.mistakes(outside).count == 1)
        #expect(try Self.read(outside + [("auth.keys.a.hash", Self.hash)]).access.modes == [.keys])
        #expect(try Self.read(outside + [("auth", "none")]).access.isOpen)
    }

    @Test func certificateIsReadFromFiles() throws {
        let chain = UpstreamSecuritySettingsTests.certificate
        let key = UpstreamSecuritySettingsTests.key
        let flags = [("http.tls.certificateFile", "/c"), ("http.tls.keyFile", "/k")]
        let http = try Self.read(flags, files: ["/c": chain + "\n", "/k": key]).http
        #expect(http.certificate?.chain == chain)
        #expect(http.certificate?.key == key)
        #expect(Self.mistakes(flags, files: ["/c": chain, "/k": chain]).count == 1)
    }

    /// The check accepted what the server then refused.
    @Test(arguments: [
        (UpstreamSecuritySettingsTests.certificate, anotherKey),
        (UpstreamSecuritySettingsTests.certificate, "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"),
        ("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----", UpstreamSecuritySettingsTests.key),
    ])
    func aCertificateThatTheServerCannotUseIsAMistake(chain: String, key: String) {
        let mistakes = Self.mistakes([("http.tls.certificate", chain), ("http.tls.key", key)])
        let start = "http.tls.certificate: cannot be used with http.tls.key: "
        #expect(mistakes.count == 1 && mistakes[0].hasPrefix(start), "\(mistakes)")
    }

    /// The gateway used it without a word.
    @Test(arguments: [
        (0.0, "is not valid before 2026-11-22T04:27:41Z"), (1.796e9, nil), (5e9, "has expired at 2126-10-29T04:27:41Z"),
    ])
    func aCertificateThatIsNotValidNowIsWarnedAbout(now: Double, event: String?) throws {
        var configuration = GatewayConfiguration()
        #expect(configuration.warnings(now: now).isEmpty)
        let (chain, key) = (UpstreamSecuritySettingsTests.certificate, UpstreamSecuritySettingsTests.key)
        configuration.http.certificate = .init(chain: chain, key: key)
        let warnings = configuration.warnings(now: now)
        #expect(warnings.count == (event == nil ? 0 : 1))
        #expect(warnings.allSatisfy { $0.hasPrefix("http.tls.certificate: ") && $0.contains(event ?? "") })
    }

    @Test func everyCertificateOfAChainIsLookedAt() {
        var configuration = GatewayConfiguration()
        let chain = "\(UpstreamSecuritySettingsTests.certificate)\n\(Self.ofOneMonth)"
        configuration.http.certificate = .init(chain: chain, key: UpstreamSecuritySettingsTests.key)
        #expect(configuration.warnings(now: 1.796e9).isEmpty)
        #expect(configuration.warnings(now: 1.8e9).first?.contains("has expired at 2026-12-28T08:03:23Z") == true)
        configuration.http.certificate = .init(chain: "no certificate", key: "")
        #expect(configuration.warnings(now: 1.8e9).isEmpty)
    }

    /// On loopback, where no credentials are required, the gateway stayed open without a word.
    @Test func settingsOfTokensWithoutAKeyAreWarnedAbout() throws {
        var configuration = GatewayConfiguration()
        #expect(configuration.warnings().isEmpty)
        configuration.access.webTokens.audience = "gateway"
        let rule = "auth.jwt has no secret, publicKey, jwks or jwksURL: "
        #expect(configuration.warnings() == [rule + "callers need no credentials"])
        configuration.access.keys = [KeyConfiguration(name: "a", hash: KeyHash(of: "k"))]
        #expect(configuration.warnings() == [rule + "tokens are refused"])
        configuration.access.webTokens.secret = TokenForge.secret
        #expect(configuration.warnings().isEmpty)
        configuration.access.webTokens.secret = nil
        configuration.access.keys = []
        configuration.access.configuredModes = [.none]
        #expect(configuration.warnings().isEmpty)
    }

    /// A key with a misspelled name was refused everything without a word.
    @Test func rightsToUnknownNamesAreWarnedAbout() throws {
        let file = """
            upstreams: {push: {serverAddress: 'http://a'}}
            feeds: {quotes: {fields: {a: string}}}
            auth:
              keys:
                a: {hash: \(KeyHash(of: "a")), upstreams: [pu*, psh], feeds: [quotes, qotes]}
                b: {hash: \(KeyHash(of: "b"))}
              jwt: {secret: '\(TokenForge.secret)', upstreams: 'x*', feeds: '*'}
            """
        var reader = ConfigurationReader(file: try ConfigurationFile(path: "gateway.yaml", text: file))
        let configuration = try reader.read()
        func warning(_ member: String, _ kind: String, _ name: String) -> String {
            "auth.\(member).\(kind): none of the configured \(kind) has a name such as \"\(name)\""
        }
        #expect(
            configuration.warnings() == [
                warning("keys.a", "upstreams", "psh"), warning("keys.a", "feeds", "qotes"),
                warning("jwt", "upstreams", "x*"),
            ]
        )
    }

    /// Replicas without an engine ran alone, each with its own sessions and ids.
    @Test func settingsOfAClusterWithoutAnEngineAreWarnedAbout() {
        var configuration = GatewayConfiguration()
        configuration.cluster.secret = "0123456789abcdef"
        let warning = "cluster.engine is none: the gateway runs alone, and the other settings of cluster have no effect"
        #expect(configuration.warnings() == [warning])
        configuration.cluster.engine = .nats
        #expect(configuration.warnings().isEmpty)
    }

    @Test func keysOfAJWKSetThatAreSkippedAreWarnedAbout() {
        var configuration = GatewayConfiguration()
        let point = KeySetLoaderTests.keySet(TokenForge.ellipticKey)
        configuration.access.webTokens.keySet = point
        #expect(configuration.warnings().isEmpty)
        let weak = #"{"kty":"oct","k":"AAAA"},{"kty":"RSA","n":"AQAB","e":"AQAB"}"#
        configuration.access.webTokens.keySet = point.replacing(#"{"keys":["#, with: #"{"keys":[\#(weak),"#)
        #expect(configuration.warnings().map { String($0.prefix(22)) } == ["auth.jwt.jwks: keys[1]"])
    }

    private static let ofOneMonth = """
        -----BEGIN CERTIFICATE-----
        MIIBFjCBvQIUGYcjIOCm7YbnFbuP8vD1ovHKRwswCgYIKoZIzj0EAwIwDjEMMAoG
        A1UEAwwDb2xkMB4XDTI2MTEyODA4MDMyM1oXDTI2MTIyODA4MDMyM1owDjEMMAoG
        A1UEAwwDb2xkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEJK/Pd6JWnHKVddy3
        XmAhAAQx5fZseLKK387yEomlRfNGFikJ1ZREaH8wWJtpazNg+xFfWdypVwhrdy0r
        SyFCxTAKBggqhkjOPQQDAgNIADBFAiBFIpfw1pmcH1e8WPRmvw8i9vQoLx9SWY2y
        pSeU5uk+bwIhAOwf49AR9bSFi9eI6m+cfBWbyg65LauWVA6SKNRYDaHk
        -----END CERTIFICATE-----
        """

    private static let anotherKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgM2RE21qoSoJc8nXc
        4EGkEQAf7jzr/eHCQMaKTlk9Ci2hRANCAASTWellUwlvR7VAIIiCmM99CFxiFeU4
        2bu925Y4LRmvkUBXSogx8LWX3sEbSNu8KsYDAcmdHN+OFmpCe6O9Ii2T
        -----END PRIVATE KEY-----
        """
}
