import Changes
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

@Suite struct SubscriptionUsageTests {
    /// A gateway whose caller `alice` may use two subscriptions with three items.
    private func fixture() async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.keys[1].rights.maxSubscriptions = 2
        access.keys[1].rights.maxItems = 3
        return try await AccessFixture(access)
    }

    private func usage(_ fixture: AccessFixture) -> [Int] {
        let count = fixture.services.access.owners.usage.count("key:alice")
        return [count.subscriptions, count.items]
    }

    private func post(_ fixture: AccessFixture, _ items: String...) -> Fixture.Outcome {
        let items = items.map { "\"\($0)\"" }.joined(separator: ",")
        let body = #"{"upstream":"demo","mode":"MERGE","items":[\#(items)],"fields":["f"],"active":false}"#
        return fixture.perform("POST", "/v1/subscriptions", as: AccessFixture.alice, body)
    }

    /// A copy of the table of a caller for each use takes minutes.
    @Test(.timeLimit(.minutes(1))) func aUseTakesNoLongerWithManySubscriptions() throws {
        let usage = SubscriptionUsage()
        let caller = Caller(identity: "key:many")
        let properties = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(["f"]))
        for number in 0..<200_000 { try usage.add("s\(number)", properties, for: caller) }
        for number in 0..<100_000 {
            let id = number.isMultiple(of: 2) ? "s\(number)" : "t\(number)"
            try usage.add(id, properties, for: caller)
            try usage.change(id, to: properties, for: caller)
            usage.remove(id, of: caller.identity)
        }
        let count = usage.count("key:many")
        #expect([count.subscriptions, count.items] == [200_000, 200_000])
    }

    @Test func aKeyHasAQuotaOfSubscriptions() async throws {
        let fixture = try await fixture()
        let first = post(fixture, "item1")
        #expect(first.status == 201)
        #expect(post(fixture, "item2").status == 201)
        let refused = post(fixture, "item3")
        #expect(refused.status == 429)
        #expect(refused.code == "over-quota" && refused.headers["Retry-After"] == "5")
        let setting = "auth.keys.alice.maxSubscriptions"
        #expect(refused.detail == "The quota of 2 subscriptions of this caller is used up (\(setting)).")
        #expect(fixture.services.pool.resources().count == 2)
        let id = try #require(first.json["id"]?.string)
        #expect(fixture.perform("DELETE", "/v1/subscriptions/\(id)", as: AccessFixture.alice).status == 204)
        #expect(usage(fixture) == [1, 1])
        #expect(post(fixture, "item3").status == 201)
    }

    @Test func aRefusalNamesTheSettingOfTheCaller() {
        #expect(Caller.setting("maxItems", of: "key:a.b") == "auth.keys.a.b.maxItems")
        #expect(Caller.setting("maxItems", of: "jwt:key%3Aa") == "auth.jwt.maxItems")
        #expect(Caller.setting("maxItems", of: "address:192.0.2.7") == "limits.maxItems")
    }

    /// Requests of this machine, which may come from many callers by a proxy, have no quotas.
    @Test func anAddressWithoutCredentialsHasQuotas() async throws {
        var access = AccessConfiguration()
        (access.hosts, access.limits.maxSubscriptions, access.limits.maxItems) = (["gateway.example"], 2, 3)
        let fixture = try await AccessFixture(access)
        func post(_ items: [String], from peer: String) -> Fixture.Outcome {
            let items = items.map { "\"\($0)\"" }.joined(separator: ",")
            let body = #"{"upstream":"demo","items":[\#(items)],"fields":["f"],"active":false}"#
            return fixture.perform("POST", "/v1/subscriptions", as: nil, body, peer: peer)
        }
        let paths = (1...2).map { post(["i\($0)"], from: "192.0.2.7").headers["Location"] ?? "" }
        let refused = post(["i3"], from: "192.0.2.7")
        #expect(refused.status == 429 && refused.detail?.hasSuffix("(limits.maxSubscriptions).") == true)
        #expect(post(["i3"], from: "192.0.2.8").status == 201)
        #expect((0..<4).map { post(["i\($0)"], from: "127.0.0.1").status } == [201, 201, 201, 201])
        #expect((1...3).map { post(["i\($0)"], from: "2001:db8::\($0)").status } == [201, 201, 429])
        let (more, enough) = (#"{"items":["a","b","c"]}"#, #"{"items":["a","b"]}"#)
        // Another address that changes the subscription does not pay for it.
        for peer in ["192.0.2.7", "192.0.2.9"] {
            let refused = fixture.perform("PATCH", paths[0], as: nil, more, peer: peer)
            #expect(refused.detail?.contains("limits.maxItems") == true)
        }
        #expect(fixture.perform("PATCH", paths[0], as: nil, enough, peer: "192.0.2.7").status == 200)
        for path in paths { #expect(fixture.perform("DELETE", path, peer: "192.0.2.9").status == 204) }
        #expect(fixture.services.access.owners.usage.count("address:192.0.2.7") == (0, 0))
        #expect(post(["i1", "i2", "i3"], from: "192.0.2.7").status == 201)
    }

    @Test func streamsOfAnAddressWithoutCredentialsCountUntilTheyEnd() async throws {
        var access = AccessConfiguration()
        (access.hosts, access.limits.maxSubscriptions) = (["gateway.example"], 1)
        let fixture = try await AccessFixture(access)
        let target = "/v1/stream?upstream=demo&fields=f&items="
        let (first, content) = fixture.open("GET", target + "a", peer: "192.0.2.7")
        #expect(first.isStream)
        #expect(fixture.perform("GET", target + "b", peer: "192.0.2.7").status == 429)
        #expect(fixture.perform("GET", target + "a", peer: "192.0.2.7").isStream)
        #expect(fixture.perform("GET", target + "b", peer: "192.0.2.8").isStream)
        content?.onEnd(.neverOpened)
        #expect(fixture.perform("GET", target + "b", peer: "192.0.2.7").isStream)
        let prepared = #"{"upstream":"demo","fields":["f"],"items":["a"]}"#
        let posted = fixture.perform("POST", "/v1/streams", as: nil, prepared, peer: "192.0.2.7")
        let path = posted.headers["Location"] ?? ""
        let addition = #"{"add":[{"upstream":"demo","fields":["f"],"items":["b"]}]}"#
        #expect(fixture.perform("PATCH", path, as: nil, addition, peer: "192.0.2.9").status == 429)
        #expect(fixture.perform("DELETE", path, peer: "192.0.2.9").status == 204)
        #expect(fixture.services.access.owners.usage.all.isEmpty)
    }

    @Test func readersOfPublicFeedsHaveQuotasByTheirAddress() async throws {
        var access = AccessFixture.keys()
        access.publicFeeds = [FeedConfiguration(name: "open")]
        access.limits.maxItems = 1
        var feed = FeedConfiguration(name: "open")
        (feed.isPublic, feed.upstream) = (true, "demo")
        feed.items = ["a", "b"].compactMap { FeedItem($0) }
        feed.fields = [FeedField("x", "string")].compactMap { $0 }
        let fixture = try await AccessFixture(access) { [feed] in $0.feeds = [feed] }
        #expect(fixture.perform("GET", "/v1/stream?feed=open", peer: "192.0.2.7").status == 429)
        #expect(fixture.perform("GET", "/v1/stream?feed=open&items=a", peer: "192.0.2.7").isStream)
        #expect(fixture.perform("GET", "/v1/stream?feed=open").isStream)
        #expect(fixture.perform("GET", "/v1/stream?upstream=demo&items=a,b&fields=x", peer: "192.0.2.7").status == 429)
    }

    /// Another request can delete a subscription before the request that creates the subscription has ended.
    @Test func aSubscriptionThatIsDeletedAtOnceDoesNotCount() async throws {
        let fixture = try await fixture()
        let id = SubscriptionID("s1")
        let properties = SubscriptionProperties(mode: .merge, items: .list(["item1"]), fields: .list(["f"]))
        try fixture.services.access.owners.note(id, properties, madeBy: Caller(identity: "key:alice"))
        #expect(usage(fixture) == [1, 1])
        let session = SessionKey(upstream: "demo", user: nil, password: nil)
        _ = try fixture.services.pool.createResource(home: .pooled(session), properties: properties, as: id)
        try fixture.services.pool.delete(id)
        #expect(usage(fixture) == [0, 0] && fixture.services.access.owners.owner(of: id) == nil)
    }

    /// The names take memory as long as the subscription exists.
    @Test func eachKiBOfNamesCountsAsAnItem() async throws {
        let fixture = try await fixture()
        let long = "item" + String(repeating: "x", count: 3 << 10)
        #expect(post(fixture, long, "item" + String(repeating: "x", count: 1 << 10)).status == 429)
        #expect(post(fixture, "item1", long).status == 201)
        #expect(usage(fixture) == [1, 3])
        let field = String(repeating: "f", count: 5 << 10)
        for list in [#""fields":["\#(field)"]"#, #""fieldSchema":"\#(field)""#] {
            let body = #"{"upstream":"demo","items":["item1"],\#(list),"active":false}"#
            #expect(fixture.perform("POST", "/v1/subscriptions", as: AccessFixture.alice, body).code == "over-quota")
        }
    }

    @Test func aKeyHasAQuotaOfItems() async throws {
        let fixture = try await fixture()
        let refused = post(fixture, "item1", "item2", "item3", "item4")
        #expect(refused.status == 429 && refused.detail?.hasSuffix("(auth.keys.alice.maxItems).") == true)
        let id = try #require(post(fixture, "item1", "item2").json["id"]?.string)
        #expect(post(fixture, "item3", "item4").status == 429)
        let path = "/v1/subscriptions/\(id)"
        let more = #"{"items":["item1","item2","item3","item4"]}"#
        #expect(fixture.perform("PATCH", path, as: AccessFixture.alice, more).status == 429)
        #expect(fixture.perform("PATCH", path, as: AccessFixture.alice, #"{"items":["item1"]}"#).status == 200)
        #expect(usage(fixture) == [1, 1])
    }

    @Test func joinedSubscriptionCountsOnceUntilTheStreamEnds() async throws {
        let fixture = try await fixture()
        let target = "/v1/stream?upstream=demo&mode=MERGE&items=item1,item2&fields=f"
        let (_, first) = fixture.open("GET", target, as: AccessFixture.alice)
        let (_, second) = fixture.open("GET", target, as: AccessFixture.alice)
        #expect(usage(fixture) == [1, 2])
        let other = "/v1/stream?upstream=demo&mode=MERGE&items=item3,own&fields=f"
        #expect(fixture.perform("GET", other, as: AccessFixture.alice).status == 429)
        first?.onEnd(.neverOpened)
        #expect(usage(fixture) == [1, 2])
        second?.onEnd(.neverOpened)
        #expect(usage(fixture) == [0, 0])
    }

    @Test func aRefusedListOfSourcesReleasesAll() async throws {
        let fixture = try await fixture()
        let join = { (item: String) in #"{"upstream":"demo","mode":"MERGE","items":["\#(item)"],"fields":["f"]}"# }
        let sources = ["item1", "item2", "item3"].map(join).joined(separator: ",")
        let outcome = fixture.perform(
            "POST",
            "/v1/streams",
            as: AccessFixture.alice,
            #"{"sources":[\#(sources)]}"#
        )
        #expect(outcome.status == 429)
        #expect(usage(fixture) == [0, 0])
    }

    @Test func keysAndTokensHaveDefaultQuotas() {
        #expect(KeyConfiguration(name: "a").rights.maxSubscriptions == 2_000)
        #expect(WebTokenConfiguration().rights.maxItems == 25_000)
    }
}
