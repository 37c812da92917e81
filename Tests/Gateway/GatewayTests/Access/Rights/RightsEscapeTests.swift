import Changes
import MicroHTTPD
import SessionPool
import Testing

@testable import Gateway

/// Callers with limited rights request resources of others.
@Suite struct RightsEscapeTests {
    private static let alice = AccessFixture.alice
    private static let bob = AccessFixture.bob
    private static let admin = AccessFixture.admin

    @Test func listsShowWhatTheCallerMaySee() async throws {
        let fixture = try await AccessFixture()
        let client = fixture.makeClient(as: Self.alice)
        let subscription = fixture.makeSubscription(as: Self.alice)
        _ = fixture.makeSubscription(as: Self.bob)
        let lists = [("clients", client), ("subscriptions", subscription)]
        for (list, id) in lists {
            let own = fixture.perform("GET", "/v1/\(list)", as: Self.alice).json[list]?.array ?? []
            #expect(own.compactMap { $0["id"]?.string } == [id])
        }
        #expect(fixture.perform("GET", "/v1/clients", as: Self.bob).json["clients"]?.array?.isEmpty == true)
        #expect(fixture.perform("GET", "/v1/subscriptions", as: Self.admin).json["subscriptions"]?.array?.count == 2)
        let upstreams = fixture.perform("GET", "/v1/upstreams", as: Self.alice).json["upstreams"]?.array ?? []
        #expect(upstreams.compactMap { $0["name"]?.string } == ["demo"])
        let health = fixture.perform("GET", "/health", as: Self.alice)
        #expect(!health.text.contains("secret"))
    }

    @Test func resourcesOfOtherCallersAreUnknown() async throws {
        let fixture = try await AccessFixture()
        let client = fixture.makeClient(as: Self.alice)
        let subscription = fixture.makeSubscription(as: Self.alice)
        let targets = [
            ("GET", "clients", client, ""), ("DELETE", "clients", client, ""), ("GET", "clients", client, "/options"),
            ("GET", "clients", client, "/details"), ("GET", "clients", client, "/cookies"),
            ("POST", "clients", client, "/connect"), ("POST", "clients", client, "/messages"),
            ("GET", "clients", client, "/events"), ("GET", "subscriptions", subscription, ""),
            ("PATCH", "subscriptions", subscription, ""), ("DELETE", "subscriptions", subscription, ""),
            ("POST", "subscriptions", subscription, "/subscribe"), ("GET", "subscriptions", subscription, "/values"),
            ("GET", "subscriptions", subscription, "/values/item1"), ("GET", "subscriptions", subscription, "/events"),
        ]
        for (method, kind, id, rest) in targets {
            let body = rest == "/messages" ? #"{"text":"x"}"# : method == "PATCH" ? "{}" : ""
            let other = fixture.perform(method, "/v1/\(kind)/\(id)\(rest)", as: Self.bob, body)
            let none = fixture.perform(method, "/v1/\(kind)/nothing\(rest)", as: Self.bob, body)
            #expect(other.status == 404, "\(method) \(kind)\(rest)")
            #expect(other.code == none.code)
            #expect(other.json["detail"]?.string == none.json["detail"]?.string?.replacing("nothing", with: id))
        }
        #expect(fixture.perform("GET", "/v1/clients/\(client)/options", as: Self.alice).status == 200)
        #expect(fixture.perform("GET", "/v1/clients/\(client)/options", as: Self.admin).status == 200)
    }

    @Test func anUpstreamOutsideTheRightsIsRefusedWhetherItExistsOrNot() async throws {
        let fixture = try await AccessFixture()
        for name in ["secret", "nowhere"] {
            let join = "/v1/stream?upstream=\(name)&mode=MERGE&items=item1&fields=f"
            #expect(fixture.perform("GET", join, as: Self.alice).status == 403)
            #expect(fixture.perform("HEAD", join, as: Self.alice).status == 403)
            #expect(fixture.perform("GET", "/v1/upstreams/\(name)", as: Self.alice).status == 404)
            let client = fixture.perform(
                "POST",
                "/v1/clients",
                as: Self.alice,
                #"{"upstream":"\#(name)","connect":false}"#
            )
            #expect(client.status == 403)
            let body = #"{"upstream":"\#(name)","mode":"MERGE","items":["item1"],"fields":["f"],"active":false}"#
            #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.alice, body).status == 403)
        }
        #expect(fixture.services.pool.clients().isEmpty)
        #expect(fixture.services.pool.resources().isEmpty)
    }

    @Test(arguments: [
        "items=secret", "items=item1,secret", "item=item1&item=secret", "itemGroup=item1%20secret", "itemGroup=secret",
        "items=item1&commandSecondLevelFields=g", "items=Item1", "items=xitem1",
        // U+0600 and U+0301 form one character with the space beside them.
        "itemGroup=item1%D8%80%20secret", "items=item1%D8%80,secret", "itemGroup=item1%20%CC%81secret",
        "itemGroup=item1%09secret", "itemGroup=item1%C2%A0secret", "itemGroup=item1%E2%80%A8secret",
        "items=item1%0Asecret", "items=item1%C2%85", "itemGroup=%20", "itemGroup=item1%20%20item1",
    ])
    func itemsOutsideTheRightsAreRefusedInOneLine(items: String) async throws {
        let fixture = try await AccessFixture()
        let mode = items.contains("Second") ? "COMMAND" : "MERGE"
        let fields = mode == "COMMAND" ? "key,command" : "f"
        let target = "/v1/stream?upstream=demo&mode=\(mode)&\(items)&fields=\(fields)"
        let outcome = fixture.perform("GET", target, as: Self.alice)
        #expect(outcome.status == 403)
        #expect(fixture.services.pool.clients().isEmpty)
    }

    @Test(arguments: [#"["secret"]"#, #"["item1","secret"]"#])
    func itemsOutsideTheRightsAreRefusedInBodies(items: String) async throws {
        let fixture = try await AccessFixture()
        let properties = #""mode":"MERGE","items":\#(items),"fields":["f"]"#
        let client = fixture.makeClient(as: Self.alice)
        let requests = [
            ("/v1/subscriptions", #"{"upstream":"demo",\#(properties),"active":false}"#),
            ("/v1/subscriptions", #"{"client":"\#(client)",\#(properties),"active":false}"#),
            ("/v1/streams", #"{"upstream":"demo",\#(properties)}"#),
            ("/v1/streams", #"{"sources":[{"upstream":"demo",\#(properties)}]}"#),
        ]
        for (target, body) in requests {
            #expect(fixture.perform("POST", target, as: Self.alice, body).status == 403)
        }
        #expect(fixture.services.pool.resources().isEmpty)
    }

    @Test func aSubscriptionIsNotChangedIntoAnotherOne() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: Self.alice)
        for patch in [#"{"items":["secret"]}"#, #"{"items":null,"itemGroup":"secret"}"#] {
            #expect(fixture.perform("PATCH", "/v1/subscriptions/\(id)", as: Self.alice, patch).status == 403)
        }
        #expect(
            fixture.perform("PATCH", "/v1/subscriptions/\(id)", as: Self.alice, #"{"items":["own"]}"#).status == 200
        )
    }

    @Test func multiplexingReachesNoFurther() async throws {
        let fixture = try await AccessFixture()
        let own = fixture.makeSubscription(as: Self.bob)
        let other = fixture.makeSubscription(as: Self.alice)
        let client = fixture.makeClient(as: Self.alice)
        for query in ["subscription=\(own)&subscription=\(other)", "subscription=\(own)&client=\(client)"] {
            #expect(fixture.perform("GET", "/v1/stream?\(query)", as: Self.bob).status == 404)
        }
        let sources = #"[{"subscription":"\#(own)"},{"client":"\#(client)","subscriptions":true}]"#
        #expect(fixture.perform("POST", "/v1/streams", as: Self.bob, #"{"sources":\#(sources)}"#).status == 404)
        #expect(fixture.perform("GET", "/v1/stream?subscription=\(own)", as: Self.bob).isStream)
    }

    @Test func aLiveStreamIsPatchedWithinTheRightsAndByItsOwnerOnly() async throws {
        let fixture = try await AccessFixture()
        let own = fixture.makeSubscription(as: Self.bob)
        let other = fixture.makeSubscription(as: Self.alice)
        let (_, stream) = fixture.open("GET", "/v1/stream?subscription=\(own)", as: Self.bob)
        let list = fixture.perform("GET", "/v1/streams", as: Self.bob).json["streams"]?.array ?? []
        let id = try #require(list.first?["id"]?.string)
        let join = #"{"add":[{"upstream":"demo","mode":"MERGE","items":["secret"],"fields":["f"]}]}"#
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.bob, join).status == 403)
        let add = #"{"add":[{"subscription":"\#(other)"}]}"#
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.bob, add).status == 404)
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.alice, add).status == 404)
        #expect(fixture.perform("DELETE", "/v1/streams/\(id)", as: Self.alice).status == 404)
        #expect(fixture.perform("GET", "/v1/streams", as: Self.alice).json["streams"]?.array?.isEmpty == true)
        stream?.onEnd(.neverOpened)
    }

    @Test func aPreparedStreamIsOpenedByItsMakerOnly() async throws {
        let fixture = try await AccessFixture()
        let own = fixture.makeSubscription(as: Self.alice)
        let body = #"{"sources":[{"subscription":"\#(own)"}]}"#
        let id = try #require(fixture.perform("POST", "/v1/streams", as: Self.alice, body).json["id"]?.string)
        #expect(fixture.perform("GET", "/v1/streams/\(id)/events", as: Self.bob).status == 404)
        #expect(fixture.perform("GET", "/v1/streams/\(id)/events", as: Self.alice).isStream)
    }

    @Test func resumingRequiresThePresentRights() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: Self.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let prepared = try #require(fixture.perform("POST", "/v1/streams", as: Self.alice, body).json["id"]?.string)
        let last = [HTTPField("Last-Event-ID", "e-1")]
        #expect(fixture.perform("GET", "/v1/subscriptions/\(id)/events", as: Self.bob, "", last).status == 404)
        var access = AccessFixture.keys()
        access.keys[1].rights.items = [WildcardPattern("other")]
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", "/v1/subscriptions/\(id)/events", as: Self.alice, "", last).status == 404)
        #expect(fixture.perform("GET", "/v1/subscriptions/\(id)/values", as: Self.alice).status == 404)
        let again = fixture.perform("GET", "/v1/streams/\(prepared)/events?lastEventId=e-1", as: Self.alice)
        #expect(again.status == 404)
    }

    @Test func clientOfAnotherCallerCarriesNoSubscription() async throws {
        let fixture = try await AccessFixture()
        let client = fixture.makeClient(as: Self.alice)
        let body = #"{"client":"\#(client)","mode":"MERGE","items":["item1"],"fields":["f"],"active":false}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.bob, body).status == 404)
        #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.alice, body).status == 201)
    }

    @Test(arguments: [
        #"{"serverAddress":"http://127.0.0.1:9"}"#, #"{"adapterSet":"SECRET"}"#, #"{"serverAddress":null}"#,
    ])
    func aClientIsNotPointedAtAnotherServer(patch: String) async throws {
        let fixture = try await AccessFixture()
        let client = fixture.makeClient(as: Self.alice)
        #expect(fixture.perform("PATCH", "/v1/clients/\(client)/details", as: Self.alice, patch).status == 403)
        let body = #"{"serverAddress":"http://127.0.0.1:9","connect":false}"#
        #expect(fixture.perform("POST", "/v1/clients", as: Self.alice, body).status == 403)
    }

    @Test func thePoolsClientsAreSeenButNotChanged() async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"demo","mode":"MERGE","items":["secret"],"fields":["f"]}"#
        let hidden = fixture.perform("POST", "/v1/subscriptions", as: Self.admin, body)
        let client = try #require(fixture.services.pool.clients().first).id.rawValue
        let seen = fixture.perform("GET", "/v1/clients/\(client)", as: Self.alice)
        #expect(seen.status == 200)
        #expect(seen.json["subscriptions"]?.array?.isEmpty == true)
        for (method, rest) in [
            ("GET", "/options"), ("PATCH", "/options"), ("GET", "/cookies"), ("DELETE", "/cookies"), ("DELETE", ""),
            ("GET", "/events"), ("GET", "/events?subscriptions=true"), ("GET", "/details"), ("POST", "/disconnect"),
        ] {
            #expect(fixture.perform(method, "/v1/clients/\(client)\(rest)", as: Self.alice).status == 403, "\(rest)")
        }
        let source = #"{"sources":[{"client":"\#(client)","subscriptions":true}]}"#
        #expect(fixture.perform("POST", "/v1/streams", as: Self.alice, source).status == 403)
        #expect(fixture.perform("GET", "/v1/stream?client=\(client)", as: Self.alice).status == 403)
        let id = try #require(hidden.json["id"]?.string)
        #expect(fixture.perform("DELETE", "/v1/subscriptions/\(id)", as: Self.admin).status == 204)
        try fixture.services.pool.deleteClient(ClientID(client))
    }

    @Test func theFiguresNeedAllUpstreams() async throws {
        let fixture = try await AccessFixture()
        #expect(fixture.perform("GET", "/metrics", as: Self.alice).status == 403)
        #expect(fixture.perform("GET", "/metrics", as: Self.admin).text == "up 1\n")
    }

    @Test func ownersAreForgottenWithWhatTheyOwned() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: Self.alice)
        #expect(fixture.services.access.owners.count == 1)
        #expect(fixture.perform("DELETE", "/v1/subscriptions/\(id)", as: Self.alice).status == 204)
        #expect(fixture.services.access.owners.count == 0)
    }

    @Test func anIdempotencyKeyReplaysToItsCallerOnly() async throws {
        let fixture = try await AccessFixture()
        let key = [HTTPField("Idempotency-Key", "k")]
        let body = #"{"upstream":"demo","connect":false}"#
        let first = fixture.perform("POST", "/v1/clients", as: Self.alice, body, key).json["id"]
        let other = fixture.perform("POST", "/v1/clients", as: Self.bob, body, key).json["id"]
        #expect(first != nil && other != nil && first != other)
    }

    @Test func anIdempotencyKeyDoesNotReplayToATokenOfTheSameSubjectWithOtherRights() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let expiry = fixture.time.wall + 100
        func token(_ items: String) throws -> String {
            let rights = #""operations":"read subscribe","upstreams":"demo","items":"\#(items)""#
            return try TokenForge.token(rights, expiry: expiry)
        }
        let (wide, narrow) = (try token("*"), try token("item1"))
        let key = [HTTPField("Idempotency-Key", "k")]
        func ticket(_ token: String) -> String? {
            fixture.perform("POST", "/v1/tickets", as: token, "", key).json["ticket"]?.string
        }
        let first = ticket(wide)
        #expect(first != nil)
        #expect(ticket(wide) == first)
        #expect(ticket(narrow) != first)
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["f"],"active":false}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", as: wide, body, key).status == 201)
        #expect(fixture.perform("POST", "/v1/subscriptions", as: narrow, body, key).status == 403)
    }

    @Test func aPreparedStreamNeedsTheRightToJoinItsSubscriptionsWhenItOpens() async throws {
        var access = AccessFixture.keys()
        let fixture = try await AccessFixture(access)
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"]}"#
        let stream = fixture.perform("POST", "/v1/streams", as: Self.alice, body).json["id"]?.string ?? ""
        let target = "/v1/streams/\(stream)/events"
        access.keys[1].rights.operations = [.read]
        _ = try fixture.services.access.load(access)
        let refused = fixture.perform("GET", target, as: Self.alice)
        #expect(refused.status == 403)
        #expect(refused.headers["WWW-Authenticate"]?.contains(#"scope="subscribe""#) == true)
        access.keys[1].rights.operations = [.read, .subscribe]
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", target, as: Self.alice).isStream)
    }

    @Test func aPreparedStreamOpensAfterAReloadWithoutItsUpstream() async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"]}"#
        let stream = fixture.perform("POST", "/v1/streams", as: Self.alice, body).json["id"]?.string ?? ""
        var without = fixture.services.pool.settings.configuration
        without.upstreams.removeAll { $0.name == "demo" }
        fixture.services.pool.reload(without)
        #expect(fixture.perform("GET", "/v1/streams/\(stream)/events", as: Self.alice).isStream)
        #expect(fixture.perform("POST", "/v1/streams", as: Self.alice, body).code == "unknown-upstream")
    }

    @Test func aResumedStreamNeedsTheRightsOfTheMoment() async throws {
        var access = AccessFixture.keys()
        let fixture = try await AccessFixture(access)
        let id = fixture.makeSubscription(as: Self.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let stream = fixture.perform("POST", "/v1/streams", as: Self.alice, body).json["id"]?.string ?? ""
        let targets = [
            "/v1/streams/\(stream)/events", "/v1/subscriptions/\(id)/events", "/v1/stream?subscription=\(id)",
        ]
        let resumption = [HTTPField("Last-Event-ID", "e-1")]
        for target in targets.dropFirst() {
            #expect(fixture.perform("GET", target, as: Self.alice, "", resumption).isStream, "\(target)")
        }
        access.keys[1].rights.items = [WildcardPattern("own")]
        _ = try fixture.services.access.load(access)
        for target in targets {
            let outcome = fixture.perform("GET", target, as: Self.alice, "", resumption)
            #expect([403, 404].contains(outcome.status), "\(target): \(outcome.status)")
        }
        let join = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=f"
        #expect(fixture.perform("GET", join, as: Self.alice, "", resumption).status == 403)
    }
}
