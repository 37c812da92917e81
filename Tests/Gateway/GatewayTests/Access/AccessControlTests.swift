import Logging
import MicroHTTPD
import Synchronization
import Testing

@testable import Gateway

@Suite struct AccessControlTests {
    /// A request for each operation, with unknown ids.
    private static func requests(_ services: Services) -> [(operation: Operation, target: String)] {
        OperationTable.operations(services).map { operation in
            let parts = operation.pattern.segments.map { segment in
                switch segment {
                case .literal(let text): text
                case .parameter: "x"
                }
            }
            return (operation, "/" + parts.joined(separator: "/"))
        }
    }

    @Test func onlyProbesPagesAndTheRemovalOfTheCookieAreOpen() async throws {
        let operations = OperationTable.operations(try await AccessFixture().services)
        let open = operations.filter { $0.authorization == .open }.map(\.pattern.description)
        #expect(
            Set(open) == [
                "/health/live", "/health/ready", "/openapi.yaml", "/openapi.json", "/openapi-3.2.json", "/docs", "/",
                "/assets/{file}", "/v1/session",
            ]
        )
    }

    @Test func requestsWithoutCredentialsAreRejected() async throws {
        let fixture = try await AccessFixture()
        for (operation, target) in Self.requests(fixture.services) where operation.authorization != .open {
            let outcome = fixture.perform(operation.method.rawValue, target)
            #expect(outcome.status == 401, "\(operation.name)")
            #expect(outcome.headers["WWW-Authenticate"] == #"Bearer realm="lightstreamer-gateway""#)
            #expect(outcome.headers["Content-Type"] == "application/problem+json")
        }
        #expect(fixture.perform("GET", "/health/live").status == 200)
        #expect(fixture.perform("GET", "/").status == 200)
    }

    @Test func everyOperationThatNeedsARightIsRefusedWithoutIt() async throws {
        var access = AccessFixture.keys()
        access.keys.append(AccessFixture.key("idle", "lsg_idle", Rights(operations: [], upstreams: [], items: [])))
        let fixture = try await AccessFixture(access)
        for (operation, target) in Self.requests(fixture.services) {
            let right: Right
            switch operation.authorization {
            case .right(let needed), .rightOnAllUpstreams(let needed): right = needed
            case .open, .authenticated, .publicFeeds: continue
            }
            let outcome = fixture.perform(operation.method.rawValue, target, as: "lsg_idle")
            #expect(outcome.status == 403, "\(operation.name)")
            let challenge = outcome.headers.values(of: "WWW-Authenticate")
            #expect(challenge.count == 1)
            #expect(challenge.first?.contains(#"error="insufficient_scope", scope="\#(right.rawValue)""#) == true)
        }
    }

    @Test(arguments: ["lsg_wrong", "lsg_aliceX", "lsg_alic", "a.b.c", "x", "sha256:00"])
    func wrongCredentialsAreRefused(key: String) async throws {
        let outcome = try await AccessFixture().perform("GET", "/v1/clients", as: key)
        #expect(outcome.status == (key.contains(":") ? 400 : 401))
        #expect(outcome.headers["WWW-Authenticate"]?.contains("error=") == true)
        #expect(!outcome.text.contains(key))
    }

    @Test(arguments: [
        ("Basic bHNnX2FsaWNl", 401), ("Bearer", 400), ("Bearer ", 400), ("Bearer a b", 400), ("Bearer lsg_\u{E9}", 400),
        ("Bearer \"lsg_alice\"", 400), ("lsg_alice", 401), ("bearer lsg_alice", 200), ("BEARER  lsg_alice", 200),
    ])
    func theHeaderIsReadStrictly(value: String, status: Int) async throws {
        let outcome = try await AccessFixture().perform(
            "GET",
            "/v1/clients",
            "",
            [HTTPField("Authorization", value)]
        )
        #expect(outcome.status == status)
    }

    @Test func credentialsInTwoWaysAreRefused() async throws {
        let fixture = try await AccessFixture()
        let twice = [HTTPField("Authorization", "Bearer lsg_bob")]
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.alice, "", twice).status == 400)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let both = fixture.perform("GET", "/v1/stream?subscription=x&ticket=\(ticket)", as: AccessFixture.alice)
        #expect(both.status == 400)
    }

    @Test(arguments: [
        "access_token=lsg_alice", "token=x", "ACCESS_TOKEN=x", "api_key=x", "jwt=a.b.c", "q=lsg_alice",
        "%61ccess_token=x",
    ])
    func tokensInAURLAreRefusedAndSaidSo(query: String) async throws {
        let fixture = try await AccessFixture()
        var open = AccessConfiguration()
        open.hosts = ["gateway.example"]
        for (fixture, key) in [(fixture, nil), (fixture, AccessFixture.admin), (try await AccessFixture(open), nil)] {
            let outcome = fixture.perform("GET", "/v1/clients?\(query)", as: key)
            #expect(outcome.status == 400)
            #expect(outcome.json["detail"]?.string?.contains("in a URL are refused") == true)
            #expect(!outcome.text.contains("lsg_alice"))
        }
    }

    @Test func withoutAuthenticationEverythingIsPermitted() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        let fixture = try await AccessFixture(access)
        #expect(fixture.perform("GET", "/v1/clients").status == 200)
        let id = fixture.perform("POST", "/v1/clients", #"{"upstream":"secret","connect":false}"#).json["id"]?.string
        #expect(fixture.perform("GET", "/v1/clients/\(try #require(id))/options").status == 200)
        #expect(fixture.services.access.owners.count == 0)
    }

    @Test func tokensAndKeysMayBothBeTaken() async throws {
        var access = AccessFixture.keys()
        access.webTokens.secret = TokenForge.secret
        let fixture = try await AccessFixture(access)
        let token = try TokenForge.token(#""operations":["read"]"#, expiry: fixture.time.wall + 60)
        #expect(fixture.perform("GET", "/v1/clients", as: token).status == 200)
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.alice).status == 200)
        fixture.time.pass(100)
        let late = fixture.perform("GET", "/v1/clients", as: token)
        #expect(late.status == 401)
        #expect(late.headers["WWW-Authenticate"]?.contains("The token has expired.") == true)
    }

    /// The body of a request may arrive long after the steps before its handler.
    @Test func aStreamThatOpensAfterItsTokenHasExpiredIsClosed() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let rights = #""operations":["read","subscribe"],"upstreams":["*"],"items":["*"]"#
        let token = try TokenForge.token(rights, expiry: fixture.time.wall + 60)
        let target = "/v1/stream?upstream=demo&mode=RAW&items=item1&fields=f"
        for (age, reason) in [(30.0, nil), (100, "token-expired")] as [(Double, String?)] {
            let request = HTTPRequest("GET", target, as: token)
            guard case .acceptIgnoringBody(let perform) = fixture.host.screen(request) else {
                Issue.record("the request is refused")
                return
            }
            fixture.time.pass(age)
            guard case .stream(_, let stream) = perform(request, HTTPResponder { $0.refuse() }) else {
                Issue.record("the stream is not opened")
                return
            }
            #expect(fixture.hub.closeReason(of: stream.id) == reason)
            stream.onEnd(.neverOpened)
        }
    }

    @Test func aModeThatIsOffOpensNothing() async throws {
        var access = AccessFixture.keys()
        access.webTokens.secret = TokenForge.secret
        access.configuredModes = [.jwt]
        let fixture = try await AccessFixture(access)
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.admin).status == 401)
        let other = try await AccessFixture()
        let token = try TokenForge.token(#""operations":["read"]"#, expiry: other.time.wall + 60)
        #expect(other.perform("GET", "/v1/clients", as: token).status == 401)
    }

    /// Text of a request must not end a header line or a quoted string in one.
    @Test(arguments: ["a%0d%0aSet-Cookie:%20x=y", "a%22,error=%22none", "%00"])
    func nothingOfARequestGetsIntoTheChallenge(name: String) async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"\#(name)\r\n\"","connect":false}"#
        for outcome in [
            fixture.perform("POST", "/v1/clients", as: AccessFixture.alice, body),
            fixture.perform("GET", "/v1/clients/\(name)", as: "lsg_no"),
        ] {
            #expect([401, 403].contains(outcome.status))
            for line in outcome.headers.lines {
                #expect(!line.value.contains("\r") && !line.value.contains("\n") && !line.value.contains("\0"))
            }
            let challenge = outcome.headers["WWW-Authenticate"] ?? ""
            #expect(!challenge.contains("Set-Cookie") && !challenge.contains("none") && !challenge.contains("%"))
        }
    }

    @Test func reloadedKeysTakeEffectAtOnceAndReturnCallersToEnd() async throws {
        let fixture = try await AccessFixture()
        var access = AccessFixture.keys()
        access.keys.removeAll { $0.name == "bob" }
        let revocation = try fixture.services.access.load(access)
        #expect(revocation.ends(Caller(identity: "key:bob")))
        #expect(!revocation.ends(Caller(identity: "key:alice")))
        #expect(revocation.ends(Caller()))
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.bob).status == 401)
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.alice).status == 200)
    }

    @Test func aBrokenKeyChangesNothing() async throws {
        let fixture = try await AccessFixture()
        var access = AccessConfiguration()
        access.webTokens.publicKey = "broken"
        #expect(throws: KeyMaterial.Mistake.self) { _ = try fixture.services.access.load(access) }
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.alice).status == 200)
    }

    @Test func aRequestWaitsNoLongerThanItsTokenIsValid() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let claims = #""operations":["read","subscribe"],"upstreams":["*"],"items":["*"]"#
        let token = try TokenForge.token(claims, expiry: fixture.time.wall + 60)
        let target = "/v1/subscriptions/\(fixture.makeSubscription(as: token))/values"
        let tag = fixture.perform("GET", target, as: token).headers["ETag"] ?? ""
        let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=300")]
        let statuses = Mutex<[Int]>([])
        let decision = fixture.host.decide(HTTPRequest("GET", target, as: token, headers)) { response in
            statuses.withLock { $0.append(response.status) }
        }
        guard case .wait = decision else {
            Issue.record("the request does not wait")
            return
        }
        // Also for the 30 s by which clocks may differ.
        fixture.time.pass(89)
        fixture.services.timers.runDue()
        #expect(statuses.withLock { $0 } == [])
        fixture.time.pass(2)
        fixture.services.timers.runDue()
        #expect(statuses.withLock { $0 } == [401])
        #expect(fixture.services.waiting.count == 0)
        #expect(fixture.services.timers.count == 0)
    }

    /// The message was accepted: a client that renews its token would send it again.
    @Test func aRequestWithAnEffectIsNotRefusedWhenItsTokenExpires() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let claims = #""operations":["read","manage","send"],"upstreams":["*"],"items":["*"]"#
        let token = try TokenForge.token(claims, expiry: fixture.time.wall + 60)
        let target = "/v1/clients/\(fixture.makeClient(as: token))/messages"
        let body = #"{"text":"a","enqueueWhileDisconnected":true}"#
        let request = HTTPRequest("POST", target, as: token, [HTTPField("Prefer", "wait=300")], body)
        let (statuses, source) = AsyncStream.makeStream(of: Int.self)
        guard case .wait = fixture.host.decide(request, later: { source.yield($0.status) }) else {
            Issue.record("the request does not wait")
            return
        }
        fixture.time.pass(91)
        fixture.services.timers.runDue()
        #expect(await statuses.first { _ in true } == 202)
        #expect(fixture.services.waiting.count == 0)
    }

    @Test func callersAreRejectedBeforeTheirBodyIsRead() async throws {
        let fixture = try await AccessFixture()
        func status(_ path: String, _ key: String?) -> Int? {
            let headers = key.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
            switch fixture.host.screen(HTTPRequest(method: "POST", rawPath: path, headers: HTTPFields(headers))) {
            case .accept, .acceptIgnoringBody: return nil
            case .reject(let response): return response.status
            }
        }
        #expect(status("/v1/subscriptions", nil) == 401)
        #expect(status("/v1/subscriptions", "lsg_unknown") == 401)
        #expect(status("/v1/subscriptions", AccessFixture.reader) == 403)
        #expect(status("/v1/subscriptions", AccessFixture.alice) == nil)
        #expect(status("/nowhere", AccessFixture.alice) == 404)
    }

    @Test func theMemoryOfABodyCountsForTheCaller() async throws {
        let fixture = try await AccessFixture()
        let request = HTTPRequest("POST", "/v1/streams", as: AccessFixture.alice)
        guard case .accept(_, let caller) = fixture.host.screen(request) else {
            Issue.record("the request is refused")
            return
        }
        #expect(caller == "key:alice")
    }
}
