import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct SessionResourceTests {
    private static let origin = HTTPField("Origin", "https://gateway.example")

    @Test func theCookieHoldsTheCredentialAndIsForPagesOfTheSiteOnly() async throws {
        let fixture = try await AccessFixture()
        let made = fixture.perform("POST", "/v1/session", as: AccessFixture.alice, "", [Self.origin])
        #expect(made.status == 204)
        let cookie = try #require(made.headers["Set-Cookie"])
        #expect(cookie == "gateway_token=lsg_alice; Path=/; HttpOnly; SameSite=Strict; Secure")
        let pair = HTTPField("Cookie", "gateway_token=lsg_alice")
        #expect(fixture.perform("GET", "/v1/clients", "", [pair]).status == 200)
    }

    @Test func aClientThatIsNoBrowserMaySetIt() async throws {
        #expect(try await AccessFixture().perform("POST", "/v1/session", as: AccessFixture.alice).status == 204)
    }

    @Test(arguments: [
        [("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "same-site")],
    ])
    func aForeignPageSetsAndRemovesNoCookie(headers: [(String, String)]) async throws {
        var access = AccessFixture.keys()
        access.origins = ["*"]
        let fixture = try await AccessFixture(access)
        let fields = headers.map { HTTPField($0.0, $0.1) }
        for method in ["POST", "DELETE"] {
            let outcome = fixture.perform(method, "/v1/session", as: AccessFixture.alice, "", fields)
            #expect(outcome.status == 403)
            #expect(outcome.headers["Set-Cookie"] == nil)
        }
    }

    @Test func aPageOfAListedOriginMaySetIt() async throws {
        var access = AccessFixture.keys()
        access.origins = ["https://app.gateway.example"]
        let fields = [
            HTTPField("Origin", "https://app.gateway.example"), HTTPField("Sec-Fetch-Site", "same-site"),
        ]
        let outcome = try await AccessFixture(access).perform("POST", "/v1/session", as: AccessFixture.bob, "", fields)
        #expect(outcome.status == 204)
        #expect(outcome.headers["Access-Control-Allow-Credentials"] == "true")
    }

    /// The cookie of a caller who has another token since is that token.
    @Test func anIdempotencyKeyRepeatsNoCookie() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        for lifetime in [600.0, 900] {
            let token = try TokenForge.token(expiry: fixture.time.wall + lifetime)
            let key = HTTPField("Idempotency-Key", "sign-in")
            let made = fixture.perform("POST", "/v1/session", as: token, "", [key])
            let cookie = "gateway_token=\(token); Path=/; HttpOnly; SameSite=Strict; Secure"
            #expect(made.headers["Set-Cookie"] == cookie, "a cookie with an age outlives the browser")
            #expect(made.headers["Idempotency-Replayed"] == nil)
        }
    }

    @Test func credentialsAreRequired() async throws {
        let fixture = try await AccessFixture()
        #expect(fixture.perform("POST", "/v1/session").status == 401)
        #expect(fixture.perform("POST", "/v1/session", as: "lsg_nobody").status == 401)
    }

    @Test func theCookieIsRemovedWithoutCredentials() async throws {
        let outcome = try await AccessFixture().perform("DELETE", "/v1/session", "", [Self.origin])
        #expect(outcome.status == 204)
        let cookie = try #require(outcome.headers["Set-Cookie"])
        #expect(cookie == "gateway_token=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure")
    }

    @Test func noCookieIsSetWhereNoneIsAccepted() async throws {
        var access = AccessFixture.keys()
        access.cookie = nil
        let outcome = try await AccessFixture(access).perform("POST", "/v1/session", as: AccessFixture.alice)
        #expect(outcome.status == 409)
        let open = try await AccessFixture(AccessConfiguration())
        #expect(open.perform("POST", "/v1/session").headers["Set-Cookie"] == nil)
    }

    /// Browsers dropped a cookie of the other names, which require `Secure`.
    @Test(arguments: [
        ("gateway_token", ""), ("__Host-token", "; Secure"), ("__Secure-token", "; Secure"),
    ])
    func aLoopbackNameWithoutTLSGetsACookieThatIsSentWithoutTLS(name: String, end: String) async throws {
        var access = AccessFixture.keys()
        access.cookie = name
        let fixture = try await AccessFixture(access)
        var request = HTTPRequest("POST", "/v1/session", as: AccessFixture.alice)
        request.headers = HTTPFields([
            HTTPField("Host", "localhost:8080"), HTTPField("Authorization", "Bearer \(AccessFixture.alice)"),
        ])
        guard case .respond(let response) = fixture.host.decide(request, later: { _ in }) else {
            Issue.record("no response")
            return
        }
        #expect(response.headers["Set-Cookie"] == "\(name)=lsg_alice; Path=/; HttpOnly; SameSite=Strict" + end)
    }

    @Test func aCallerSeesItsRightsAndWhatItUses() async throws {
        let fixture = try await AccessFixture()
        let session = fixture.perform("GET", "/v1/session", as: AccessFixture.alice).json
        #expect(session["identity"]?.string == "key:alice")
        #expect(session["operations"]?.array?.compactMap(\.string).contains("read") == true)
        #expect(session["callers"]?.array?.map { $0["identity"]?.string } == ["key:alice"])
        #expect(fixture.perform("GET", "/v1/session").status == 401)
    }

    @Test func aCallerWithAllRightsSeesWhatOthersUse() async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item1","item2"],"fields":["x"]}"#
        let made = fixture.perform("POST", "/v1/subscriptions", as: AccessFixture.alice, body)
        try #require(made.status == 201, "\(made.json)")
        let session = fixture.perform("GET", "/v1/session", as: AccessFixture.admin).json
        #expect(session["controlsAll"]?.bool == true)
        let alice = session["callers"]?.array?.first { $0["identity"]?.string == "key:alice" }
        #expect(alice?["subscriptions"]?["used"]?.number?.wholeNumber == 1)
        #expect(alice?["items"]?["used"]?.number?.wholeNumber == 2)
    }
}
