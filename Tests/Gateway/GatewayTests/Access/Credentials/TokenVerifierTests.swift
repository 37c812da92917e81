import Foundation
import TestSupport
import Testing

@testable import Gateway

@Suite struct TokenVerifierTests {
    private static let now = 1_700_000_000.0
    private static let claims = #"{"sub":"carol","exp":1700000100,"operations":"read"}"#

    private func refusal(
        _ token: String,
        _ change: (inout WebTokenConfiguration) -> Void = { _ in },
        now: Double = TokenVerifierTests.now
    ) async throws -> TokenRefusal? {
        var configuration = TokenForge.configuration().webTokens
        configuration.leeway = .zero
        change(&configuration)
        let verifier = try TokenVerifier(configuration)
        do {
            _ = try verifier.caller(of: token, now: now)
            return nil
        } catch {
            return error
        }
    }

    private func forge(
        header: String = #"{"alg":"HS256"}"#,
        _ claims: String = TokenVerifierTests.claims,
        _ signing: TokenForge.Signing = .hs256(TokenForge.secret)
    ) throws -> String {
        try TokenForge.token(header: header, claims: claims, signing)
    }

    @Test func validTokenYieldsIdentityAndRights() async throws {
        let verifier = try TokenVerifier(TokenForge.configuration().webTokens)
        let token = try forge(
            #"{"sub":"carol x","exp":1700000100,"operations":"openid read send","upstreams":["demo"],"items":"item* own"#
                + #"","streams":3,"rate":1.5}"#
        )
        let caller = try verifier.caller(of: token, now: Self.now)
        #expect(caller.identity == "jwt:carol%20x")
        #expect(caller.rights.operations == [.read, .send])
        #expect(caller.rights.covers(upstream: "demo"))
        #expect(!caller.rights.covers(upstream: "other"))
        #expect(caller.rights.items.map(\.description) == ["item*", "own"])
        #expect(caller.rights.streams == 3)
        #expect(caller.rights.rate == 1.5)
    }

    @Test func aTokenWithoutClaimsOfRightsAllowsNothing() async throws {
        let verifier = try TokenVerifier(TokenForge.configuration().webTokens)
        let caller = try verifier.caller(of: try forge(#"{"sub":"carol","exp":1700000100}"#), now: Self.now)
        #expect(caller.rights.operations.isEmpty && caller.rights.upstreams.isEmpty && caller.rights.items.isEmpty)
    }

    @Test(arguments: [
        (#""exp":1700000600"#, nil), (#""exp":1700000601"#, TokenRefusal.lifetime),
        (#""exp":1700000300,"iat":1699999700"#, nil), (#""exp":1700000300,"iat":1699999699"#, .lifetime),
        // An issue in the future does not make the lifetime shorter.
        (#""exp":1700000601,"iat":1700000500"#, .lifetime), (#""exp":1700000100,"iat":"now""#, .malformed),
    ])
    func theTimeFromIssueToExpiryIsLimited(times: String, expected: TokenRefusal?) async throws {
        let token = try forge(#"{"sub":"carol",\#(times)}"#)
        #expect(try await refusal(token) { $0.longestLifetime = .seconds(600) } == expected)
    }

    @Test func theDefaultLifetimeIsADay() async throws {
        #expect(try await refusal(try forge(#"{"sub":"carol","exp":1700086400}"#)) == nil)
        #expect(try await refusal(try forge(#"{"sub":"carol","exp":1700086401}"#)) == .lifetime)
    }

    @Test(arguments: ["none", "None", "nOnE", "", "HS512", "RS256", "ES256", "hs256"])
    func anotherAlgorithmThanThatOfTheKeyIsRefused(algorithm: String) async throws {
        let unsigned = try forge(header: #"{"alg":"\#(algorithm)"}"#, Self.claims, .nothing)
        #expect(try await refusal(unsigned) == .algorithm)
        let signed = try forge(header: #"{"alg":"\#(algorithm)"}"#)
        #expect(try await refusal(signed) == .algorithm)
    }

    @Test func theEmptySignatureIsNone() async throws {
        #expect(try await refusal(try forge(header: #"{"alg":"HS256"}"#, Self.claims, .nothing)) == .signature)
    }

    /// The public key is not secret: it must not be accepted as an HMAC secret.
    @Test func aPublicKeyIsNoSecret() async throws {
        let pem = TokenForge.ellipticKey.publicPEM
        for secret in [pem, pem + "\n", pem.replacingOccurrences(of: "\n", with: "")] {
            let token = try forge(header: #"{"alg":"HS256"}"#, Self.claims, .hs256(secret))
            let refusal = try await refusal(token) { configuration in
                configuration.secret = nil
                configuration.publicKey = pem
            }
            #expect(refusal == .algorithm)
        }
    }

    @Test func anotherKeyDoesNotVerify() async throws {
        #expect(try await refusal(try forge(Self.claims, .hs256("x" + TokenForge.secret))) == .signature)
        let token = try forge(header: #"{"alg":"ES256"}"#, Self.claims, .es256(SigningKey()))
        let refusal = try await refusal(token) { $0.publicKey = TokenForge.ellipticKey.publicPEM }
        #expect(refusal == .signature)
    }

    @Test func changedClaimsDoNotVerify() async throws {
        let parts = try forge().split(separator: ".")
        let changed = Base64URL.encode(Self.claims.replacingOccurrences(of: "carol", with: "admin").utf8)
        #expect(try await refusal("\(parts[0]).\(changed).\(parts[2])") == .signature)
    }

    @Test func ellipticAndRSAKeysVerify() async throws {
        let elliptic = try forge(header: #"{"alg":"ES256"}"#, Self.claims, .es256(TokenForge.ellipticKey))
        #expect(try await refusal(elliptic) { $0.publicKey = TokenForge.ellipticKey.publicPEM } == nil)
        let rsa = try forge(header: #"{"alg":"RS256"}"#, Self.claims, .rs256)
        #expect(try await refusal(rsa) { $0.publicKey = TokenForge.rsaKey.publicPEM } == nil)
    }

    @Test func aKeySetVerifiesByTheNameOfTheKey() async throws {
        let coordinates = TokenForge.ellipticKey.coordinates
        let (x, y) = (Base64URL.encode(coordinates.x), Base64URL.encode(coordinates.y))
        let set = #"""
            {"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"},{"kty":"RSA","use":"enc","n":"AA","e":"AQAB"},
            {"kty":"EC","crv":"P-256","kid":"k1","use":"sig","x":"\#(x)","y":"\#(y)"}]}
            """#
        let good = try forge(header: #"{"alg":"ES256","kid":"k1"}"#, Self.claims, .es256(TokenForge.ellipticKey))
        #expect(try await refusal(good) { $0.keySet = set } == nil)
        let unnamed = try forge(header: #"{"alg":"ES256"}"#, Self.claims, .es256(TokenForge.ellipticKey))
        #expect(try await refusal(unnamed) { $0.keySet = set } == nil)
        let verifying = set.replacing(#""use":"sig""#, with: #""key_ops":["sign","verify"]"#)
        #expect(try await refusal(good) { $0.keySet = verifying } == nil)
        let signing = set.replacing(#""use":"sig""#, with: #""key_ops":["sign"]"#)
        #expect(try KeyMaterial.keySet(signing).keys.isEmpty)
        let other = try forge(header: #"{"alg":"ES256","kid":"../k2"}"#, Self.claims, .es256(TokenForge.ellipticKey))
        #expect(try await refusal(other) { $0.keySet = set } == .identifier)
        // A key without an identifier is for all tokens.
        let anonymous = set.replacing(#""kid":"k1","#, with: "")
        #expect(try await refusal(other) { $0.keySet = anonymous } == nil)
    }

    /// One such key had the whole set refused.
    @Test func aWeakKeyOfAConfiguredSetIsSkipped() async throws {
        let set = KeySetLoaderTests.keySet(TokenForge.ellipticKey)
            .replacing(#"{"keys":["#, with: #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},"#)
        let token = try forge(header: #"{"alg":"ES256"}"#, Self.claims, .es256(TokenForge.ellipticKey))
        #expect(try await refusal(token) { $0.keySet = set } == nil)
    }

    @Test(arguments: [
        (#"{"sub":"c","exp":1699999999}"#, TokenRefusal.expired), (#"{"sub":"c","exp":1700000000}"#, .expired),
        (#"{"sub":"c"}"#, .withoutExpiry), (#"{"sub":"c","exp":"1700000100"}"#, .malformed),
        (#"{"sub":"c","exp":null}"#, .malformed), (#"{"sub":"c","exp":1e400}"#, .malformed),
        (#"{"sub":"c","exp":1700000100,"nbf":1700000001}"#, .early), (#"{"exp":1700000100}"#, .subject),
        (#"{"sub":"","exp":1700000100}"#, .subject), (#"{"sub":7,"exp":1700000100}"#, .subject),
        (#"{"sub":"c","exp":1700000100,"aud":"x"}"#, .audience),
        (#"{"sub":"c","sub":"d","exp":1700000100}"#, .malformed),
        (#"{"sub":"c","exp":1700000100,"items":7}"#, .items),
        (#"{"sub":"c","exp":1700000100,"upstreams":["a",7]}"#, .upstreams),
        (#"{"sub":"c","exp":1700000100,"operations":null}"#, .operations),
        (#"{"sub":"c","exp":1700000100,"dataAdapters":{}}"#, .dataAdapters),
        (#"{"sub":"c","exp":1700000100,"feeds":true}"#, .feeds),
        (#"{"sub":"c","exp":1700000100,"streams":-1}"#, .streams), (#"{"sub":"c","exp":1700000100,"rate":0}"#, .rate),
        (#"["sub"]"#, .malformed), ("", .malformed),
    ])
    func badClaimsAreRefused(claims: String, expected: TokenRefusal) async throws {
        #expect(try await refusal(try forge(claims)) == expected)
    }

    @Test(arguments: [
        #"{"alg":"HS256","crit":["exp"],"exp":1}"#, #"{"alg":"HS256","crit":[]}"#,
        #"{"alg":"HS256","typ":"logout+jwt"}"#,
        #"{"alg":"HS256","typ":7}"#,
    ])
    func unknownHeadersAreRefused(header: String) async throws {
        #expect(try await refusal(try forge(header: header)) == .header)
    }

    @Test(arguments: ["JWT", "application/jwt", "at+jwt", "application/at+JWT"])
    func bothFormsOfATypeAreAccepted(type: String) async throws {
        #expect(try await refusal(try forge(header: #"{"alg":"HS256","typ":"\#(type)"}"#)) == nil)
    }

    @Test func leewayAdmitsDifferencesOfClocks() async throws {
        let token = try forge(#"{"sub":"c","exp":1699999995,"nbf":1700000005}"#)
        #expect(try await refusal(token) { $0.leeway = .seconds(10) } == nil)
        #expect(try await refusal(token) { $0.leeway = .seconds(4) } == .expired)
    }

    @Test func issuerAndAudienceHaveToFit() async throws {
        let token = try forge(#"{"sub":"c","exp":1700000100,"iss":"https://a","aud":["g","h"]}"#)
        let fits: (inout WebTokenConfiguration) -> Void = { ($0.issuer, $0.audience) = ("https://a", "h") }
        #expect(try await refusal(token, fits) == nil)
        #expect(try await refusal(token) { ($0.issuer, $0.audience) = ("https://b", "h") } == .issuer)
        #expect(try await refusal(token) { ($0.issuer, $0.audience) = ("https://a", "i") } == .audience)
        let accented = try forge(#"{"sub":"c","exp":1700000100,"iss":"\u00e9","aud":["\u00e9"]}"#)
        #expect(try await refusal(accented) { ($0.issuer, $0.audience) = ("\u{E9}", "\u{E9}") } == nil)
        #expect(try await refusal(accented) { ($0.issuer, $0.audience) = ("e\u{301}", "\u{E9}") } == .issuer)
        #expect(try await refusal(accented) { ($0.issuer, $0.audience) = ("\u{E9}", "e\u{301}") } == .audience)
        let bare = try forge(#"{"sub":"c","exp":1700000100}"#)
        #expect(try await refusal(bare) { $0.audience = "g" } == .audience)
        #expect(try await refusal(bare) { $0.issuer = "g" } == .issuer)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30.e30", "e30=.e30.e30", " e30.e30.e30", "é.é.é",
    ])
    func invalidTokenIsRefused(text: String) async throws {
        let refusal = try await refusal(text)
        #expect(refusal == .malformed || refusal == .algorithm)
    }

    @Test func aVeryLongTokenIsNotLookedAt() async throws {
        #expect(try await refusal(try forge() + String(repeating: "A", count: 20_000)) == .malformed)
    }

    @Test func everyChangedByteIsRefused() async throws {
        let verifier = try TokenVerifier(TokenForge.configuration().webTokens)
        let bytes = Array(try forge().utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            let text = String(decoding: changed, as: UTF8.self)
            #expect(throws: TokenRefusal.self) { try verifier.caller(of: text, now: Self.now) }
        }
    }

    @Test(
        arguments: [
            ("short", nil, nil, "secret"), (nil, "no PEM", nil, "publicKey"), (nil, nil, "{}", "jwks"),
            (nil, nil, #"{"keys":[]}"#, "jwks"),
            (nil, nil, #"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, "jwks"),
            (nil, nil, #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, "jwks"),
            (nil, nil, #"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "jwks"),
        ] as [(String?, String?, String?, String)]
    )
    func weakAndBrokenKeysAreMistakes(secret: String?, pem: String?, set: String?, member: String) {
        var configuration = WebTokenConfiguration()
        (configuration.secret, configuration.publicKey, configuration.keySet) = (secret, pem, set)
        do {
            _ = try KeyMaterial.read(configuration)
            Issue.record("the key was taken")
        } catch {
            #expect(error.member == member)
        }
    }

    @Test func aSetWithoutAnotherKeyNamesThoseThatCannotBeUsed() {
        var configuration = WebTokenConfiguration()
        configuration.keySet =
            #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","use":"enc"},{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#
        #expect { try KeyMaterial.read(configuration) } throws: {
            ($0 as? KeyMaterial.Mistake)?.rule.hasSuffix("; keys[1] cannot be used") == true
        }
    }

    @Test func aPrivateKeyIsNoPublicOne() {
        var configuration = WebTokenConfiguration()
        configuration.publicKey = TokenForge.ellipticKey.privatePEM
        #expect(throws: KeyMaterial.Mistake.self) { try KeyMaterial.read(configuration) }
    }

    @Test(arguments: ["1e19", "1e-19", "1e308", "5e-324", "1e6"])
    func anExtremeRateIsClamped(rate: String) async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let claims = #""operations":"read","upstreams":"*","rate":\#(rate)"#
        let token = try TokenForge.token(claims, expiry: fixture.time.wall + 100)
        let verifier = try TokenVerifier(TokenForge.configuration().webTokens)
        let number = try #require(try verifier.caller(of: token, now: fixture.time.wall).rights.rate)
        #expect(RateConfiguration.range.contains(number))
        #expect(fixture.perform("GET", "/v1/clients", as: token).status == 200)
        #expect([200, 429].contains(fixture.perform("GET", "/v1/clients", as: token).status))
    }

    @Test func anExtremeLimitOfStreamsIsClamped() throws {
        let token = try forge(#"{"sub":"carol","exp":1700000100,"streams":9223372036854775807}"#)
        let verifier = try TokenVerifier(TokenForge.configuration().webTokens)
        let caller = try verifier.caller(of: token, now: Self.now)
        #expect(caller.rights.streams == Rights.mostStreams)
        // The stream that a ticket opens again counts beyond the limit until the former stream has ended.
        #expect(OpenStreamCounts().add(caller, isReplacing: true))
    }
}
