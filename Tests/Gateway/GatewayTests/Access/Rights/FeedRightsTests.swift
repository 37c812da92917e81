import JSONText
import MicroHTTPD
import SessionCore
import SessionPool
import Synchronization
import Testing

@testable import Gateway

/// A key that lists the feed `q`, whose data are the items item1 and item2 of the upstream `demo`.
@Suite struct FeedRightsTests {
    private static let key = "lsg_feed"

    private func fixture(
        _ feeds: [String] = ["q"],
        _ access: AccessConfiguration = AccessFixture.keys()
    ) async throws -> AccessFixture {
        var access = access
        var rights = KeyConfiguration(name: "").rights
        rights.operations = Set(Right.allCases)
        rights.feeds = feeds.map { WildcardPattern($0) }
        access.keys.append(AccessFixture.key("feed", Self.key, rights))
        access.publicFeeds = [FeedConfiguration(name: "open")]
        return try await AccessFixture(access) { configuration in
            configuration.feeds = [
                ("q", "demo", "item{1…2}"), ("other", "demo", "x"), ("same", "secret", "item1"), ("open", "demo", "p"),
            ].map { name, upstream, item in
                var feed = FeedConfiguration(name: name)
                (feed.upstream, feed.isPublic) = (upstream, name == "open")
                feed.items = [FeedItem(item)].compactMap { $0 }
                feed.fields = ["a", "b"].compactMap { FeedField($0, "string") }
                return feed
            }
        }
    }

    private static let own = "upstream=demo&fields=a&items=item1"
    private static let foreign = [
        "upstream=demo&fields=a&items=x", "upstream=demo&fields=a&items=item1,x", "upstream=demo&fields=z&items=item1",
        "upstream=demo&fields=a&itemGroup=item1",
        "upstream=secret&fields=a&items=item1",
        "upstream=demo&fields=a&items=item1&dataAdapter=D", "upstream=demo&fields=a&items=item1&mode=RAW",
    ]

    @Test func reloadEndsStreamsOfDataThatTheFeedNoLongerHas() async throws {
        let fixture = try await fixture()
        let streams = try ["feed=q", Self.own].map {
            try #require(fixture.open("GET", "/v1/stream?\($0)", as: Self.key).1)
        }
        try await fixture.reload { $0.feeds[0].items = [FeedItem("item1")].compactMap { $0 } }
        #expect(streams.map { fixture.events($0).contains(#""reason":"revoked""#) } == [true, false])
    }

    @Test func reloadEndsReadsThatWaitForDataThatTheFeedNoLongerHas() async throws {
        let fixture = try await fixture()
        let statuses = Mutex([String: Int]())
        for item in ["item1", "item2"] {
            let request = HTTPRequest("GET", "/feeds/q/\(item)", as: Self.key, [HTTPField("Prefer", "wait=60")])
            let decision = fixture.host.decide(request) { response in
                statuses.withLock { $0[item] = response.status }
            }
            guard case .wait = decision else {
                Issue.record("The read of \(item) does not wait.")
                continue
            }
        }
        try await fixture.reload { $0.feeds[0].items = [FeedItem("item1")].compactMap { $0 } }
        #expect(statuses.withLock { $0 } == ["item2": 401])
    }

    @Test func dataOfTheFeedMayBeReadInEveryForm() async throws {
        let fixture = try await fixture()
        for query in ["feed=q", "feed=open", Self.own] {
            #expect(fixture.read("/v1/values?" + query, Self.key).status == 504, "\(query)")
            #expect(fixture.read("/v1/stream?" + query, Self.key).isStream, "\(query)")
        }
        #expect(fixture.read("/feeds/q/item1", Self.key).status == 504)
        let body = #"{"feed":"q","active":false}"#
        let id = fixture.perform("POST", "/v1/subscriptions", as: Self.key, body).json["id"]?.string ?? ""
        #expect(fixture.perform("GET", "/v1/subscriptions/\(id)/values", as: Self.key).status == 200)
        let stream = fixture.perform("POST", "/v1/streams", as: Self.key, #"{"feed":"q"}"#).json["id"]?.string ?? ""
        #expect(fixture.read("/v1/streams/\(stream)/events", Self.key).isStream)
        #expect(fixture.perform("POST", "/v1/tickets", as: Self.key, "{}").status == 201)
    }

    @Test func aPublicFeedNeedsNoCredentials() async throws {
        let fixture = try await fixture()
        for target in ["/v1/stream?feed=open", "/feeds/open?format=sse", "/feeds/open/p/a?format=sse"] {
            #expect(fixture.perform("GET", target).isStream, "\(target)")
        }
        // The values of a new subscription are not there yet.
        for target in ["/v1/values?feed=open", "/feeds/open", "/feeds/open/p"] {
            #expect(fixture.perform("GET", target).isWaiting, "\(target)")
        }
        for target in ["/v1/values?feed=q", "/v1/stream?feed=q", "/feeds/q/item1", "/v1/feeds/q", "/v1/feeds/none"] {
            let refused = fixture.perform("GET", target)
            #expect(refused.status == 401, "\(target)")
            #expect(refused.headers["WWW-Authenticate"] != nil)
        }
    }

    @Test(arguments: foreign)
    func otherDataIsRefusedInEveryForm(query: String) async throws {
        let fixture = try await fixture()
        #expect(fixture.read("/v1/values?" + query, Self.key).status == 403)
        #expect(fixture.read("/v1/stream?" + query, Self.key).status == 403)
    }

    @Test(arguments: [
        #"{"upstream":"demo","items":["x"],"fields":["a"],"active":false}"#,
        #"{"upstream":"secret","items":["item1"],"fields":["a"],"active":false}"#,
    ])
    func subscriptionsAndStreamsOfOtherDataAreRefused(body: String) async throws {
        let fixture = try await fixture()
        #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.key, body).status == 403)
        let source = body.replacing(#","active":false"#, with: "")
        #expect(fixture.perform("POST", "/v1/streams", as: Self.key, source).status == 403)
        let id = fixture.perform("POST", "/v1/streams", as: Self.key, #"{"feed":"q"}"#).json["id"]?.string ?? ""
        let patch = #"{"add":[\#(source)]}"#
        let headers = [HTTPField("Content-Type", "application/merge-patch+json")]
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.key, patch, headers).status == 403)
    }

    /// An error about the items, the fields or the upstream of a feed would tell that there is one.
    @Test(arguments: ["other", "same", "none"])
    func feedsThatAreNotVisibleAreUnknownWhereTheyAreNamed(name: String) async throws {
        let fixture = try await fixture()
        for rest in ["", "&items=z", "&fields=z", "&mode=RAW", "&upstream=demo"] {
            for path in ["/v1/values", "/v1/stream"] {
                #expect(fixture.read("\(path)?feed=\(name)\(rest)", Self.key).code == "unknown-feed", "\(path) \(rest)")
            }
        }
        for rest in ["", #","items":["z"]"#, #","fields":["z"]"#] {
            let source = #"{"feed":"\#(name)"\#(rest)}"#
            for (path, body) in [
                ("subscriptions", source), ("streams", source), ("streams", #"{"sources":[\#(source)]}"#),
            ] {
                let outcome = fixture.perform("POST", "/v1/\(path)", as: Self.key, body)
                #expect(outcome.status == 404 && outcome.code == "unknown-feed", "\(path) \(body)")
            }
        }
        let id = fixture.perform("POST", "/v1/streams", as: Self.key, #"{"feed":"q"}"#).json["id"]?.string ?? ""
        let headers = [HTTPField("Content-Type", "application/merge-patch+json")]
        let patch = #"{"add":[{"feed":"\#(name)"}]}"#
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.key, patch, headers).code == "unknown-feed")
        // Nor does a suggestion tell of them.
        for path in ["/v1/values?feed=\(name)s", "/feeds/\(name)s", "/v1/feeds/\(name)s"] {
            let detail = fixture.read(path, Self.key).json["detail"]?.string
            #expect(detail?.hasSuffix("There is no feed \"\(name)s\".") == true, "\(path)")
        }
    }

    @Test func feedsAndUpstreamsThatAreNotListedAreNotVisible() async throws {
        let fixture = try await fixture()
        let feeds = fixture.perform("GET", "/v1/feeds", as: Self.key).json["feeds"]?.array ?? []
        #expect(feeds.compactMap { $0["name"]?.string } == ["q", "open"])
        for target in ["/v1/feeds/other", "/feeds/other", "/feeds/same/item1", "/v1/upstreams/secret"] {
            #expect(fixture.read(target, Self.key).status == 404, "\(target)")
        }
        #expect(fixture.perform("GET", "/v1/upstreams/demo", as: Self.key).status == 200)
    }

    /// A feed of any items, in an adapter that limited items do not cover; and a caller that may not subscribe.
    @Test(arguments: [
        (AccessFixture.admin, ["q", "other", "same", "open", "any"]), (AccessFixture.alice, ["q", "open"]),
        (AccessFixture.reader, ["open"]),
    ])
    func listHasTheFeedsThatTheCallerMayRead(key: String, names: [String]) async throws {
        let fixture = try await fixture()
        try await fixture.reload { configuration in
            var any = FeedConfiguration(name: "any")
            (any.upstream, any.dataAdapter, any.fields) = ("demo", "PAYROLL", configuration.feeds[0].fields)
            configuration.feeds.append(any)
        }
        let feeds = fixture.perform("GET", "/v1/feeds", as: key).json["feeds"]?.array ?? []
        #expect(feeds.compactMap { $0["name"]?.string } == names)
        for (name, item) in [("q", "item1"), ("other", "x"), ("same", "item1"), ("open", "p"), ("any", "item1")] {
            let isRefused = (400..<500).contains(fixture.read("/feeds/\(name)/\(item)", key).status)
            #expect(isRefused != names.contains(name), "\(name)")
        }
    }

    @Test func sharedSubscriptionsOfOtherDataAreNotVisible() async throws {
        let fixture = try await fixture()
        let body = #"{"sources":[{"upstream":"demo","items":["x"],"fields":["a"]},{"feed":"q"}]}"#
        #expect(fixture.perform("POST", "/v1/streams", as: AccessFixture.admin, body).status == 201)
        let list = fixture.perform("GET", "/v1/subscriptions", as: Self.key).json["subscriptions"]?.array ?? []
        #expect(list.compactMap { $0["items"]?.array?.first?.string } == ["item1"])
    }

    @Test func aSubscriptionToAPublicFeedNeedsTheRightToSubscribeAlone() async throws {
        let fixture = try await fixture(["none"])
        func subscribe(_ key: String, _ members: String) -> Fixture.Outcome {
            fixture.perform("POST", "/v1/subscriptions", as: key, "{\(members),\"active\":false}")
        }
        for body in [#""feed":"open""#, #""upstream":"demo","items":["p"],"fields":["a"]"#] {
            let id = subscribe(Self.key, body).json["id"]?.string ?? ""
            #expect(fixture.perform("GET", "/v1/subscriptions/\(id)/values", as: Self.key).status == 200, "\(body)")
        }
        #expect(subscribe(Self.key, #""upstream":"demo","items":["item1"],"fields":["a"]"#).status == 403)
        #expect(subscribe(AccessFixture.reader, #""feed":"open""#).status == 403)
    }

    /// A client of one upstream carries subscriptions to items of feeds of both upstreams.
    @Test func aStreamOfAClientHasNoDataOfFeedsOfAnotherUpstream() async throws {
        let fixture = try await fixture([], TokenForge.configuration())
        func token(_ claims: String = "") throws -> String {
            let rights = #""operations":"read subscribe manage send","upstreams":"*","items":"*"\#(claims)"#
            return try TokenForge.token(rights, expiry: fixture.time.wall + 100)
        }
        let (wide, narrow) = (try token(), try token(#","feeds":"other same""#))
        let client = fixture.makeClient(as: wide)
        let ids = try ["x", "p", "item1"].map { item in
            let body = #"{"client":"\#(client)","items":["\#(item)"],"fields":["a"]}"#
            return try #require(fixture.perform("POST", "/v1/subscriptions", as: wide, body).json["id"]?.string)
        }
        let visible = ids.map { fixture.perform("GET", "/v1/subscriptions/\($0)", as: narrow).status == 200 }
        #expect(visible == [true, true, false])
        let events = fixture.events("/v1/clients/\(client)/events?subscriptions=true", as: narrow)
        #expect(ids.map { events.contains($0) } == visible)

        // The same client as a source that is added.
        let opened = fixture.open("GET", "/v1/stream?upstream=demo&items=x&fields=a", as: narrow)
        let stream = try #require(opened.1)
        let patch = #"{"add":[{"client":"\#(client)","subscriptions":true}]}"#
        let added = fixture.events(stream) {
            #expect(fixture.perform("PATCH", "/v1/streams/\(stream.id)", as: narrow, patch).status == 200)
        }
        #expect(ids.map { added.contains($0) } == visible)
    }

    @Test func aReloadThatTakesTheFeedAwayEndsItsSubscriptions() async throws {
        let fixture = try await fixture()
        let body = #"{"feed":"q","active":false}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", as: Self.key, body).status == 201)
        var access = fixture.services.access.policy.configuration
        access.keys[access.keys.count - 1].rights.feeds = [WildcardPattern("other")]
        fixture.services.end(try fixture.services.access.load(access))
        #expect(fixture.services.pool.resources().isEmpty)
    }
}

extension AccessFixture {
    /// The response to a GET that does not wait.
    fileprivate func read(_ target: String, _ key: String) -> Fixture.Outcome {
        perform("GET", target, as: key, "", [HTTPField("Prefer", "wait=0")])
    }
}
