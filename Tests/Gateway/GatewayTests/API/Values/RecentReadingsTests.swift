import Changes
import MicroHTTPD
import SessionCore
import Testing

@testable import Gateway
@testable import SessionPool

/// Equal requests for values within a second.
@Suite struct RecentReadingsTests {
    private static let target = "/v1/values?upstream=demo&items=item1&fields=x"
    private static let layout = SubscriptionLayout(
        itemNames: ["item1"],
        fieldNames: ["x"],
        fieldCount: 1,
        keyPosition: nil,
        commandPosition: nil
    )

    private func publish(_ value: String, to fixture: AccessFixture) throws {
        let id = try #require(fixture.services.pool.resources().last?.id)
        let update = ItemUpdate(
            layout: Self.layout,
            itemPos: 1,
            isSnapshot: true,
            values: [value],
            changed: FieldSet(all: 1)
        )
        fixture.hub.take(.subscription(id, .event(.update(update))))
    }

    /// Joins the subscription, whose item gets a value.
    private func subscribe(
        _ fixture: AccessFixture,
        as key: String,
        _ target: String = RecentReadingsTests.target
    ) async throws {
        #expect(fixture.perform("GET", target, as: key).isWaiting)
        let id = try #require(fixture.services.pool.resources().last?.id)
        let event = SubscriptionEvent.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil)
        fixture.hub.take(.subscription(id, .event(event)))
        try publish("1", to: fixture)
        // The background queue answers the request, which leaves the subscription.
        await withCheckedContinuation { done in
            if !fixture.services.background.medium.add({ done.resume() }) { done.resume() }
        }
    }

    private func value(_ fixture: AccessFixture, as key: String) -> String? {
        let response = fixture.perform("GET", Self.target, as: key)
        return response.json["items"]?.array?.first?["fields"]?["x"]?.string
    }

    @Test func everyRequestGetsThePresentValues() async throws {
        let fixture = try await AccessFixture()
        try await subscribe(fixture, as: AccessFixture.alice)
        for number in 1...3 {
            try publish("\(number)", to: fixture)
            #expect(value(fixture, as: AccessFixture.alice) == "\(number)")
            let again = fixture.perform("GET", Self.target, as: AccessFixture.alice)
            let match = [HTTPField("If-None-Match", again.headers["ETag"] ?? "")]
            #expect(fixture.perform("GET", Self.target, as: AccessFixture.alice, "", match).status == 304)
        }
    }

    @Test func readingIsKeptForASecondWithoutTheSubscription() async throws {
        let fixture = try await AccessFixture()
        try await subscribe(fixture, as: AccessFixture.alice)
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        #expect(!fixture.services.recentReadings.isEmpty)
        #expect(fixture.services.pool.state.withLock { $0.machine.shared.values.allSatisfy { $0.users == 0 } })
        fixture.time.pass(1)
        fixture.services.timers.runDue()
        #expect(fixture.services.recentReadings.isEmpty)
    }

    @Test func anUnsubscribedTableIsReadAnew() async throws {
        let fixture = try await AccessFixture()
        try await subscribe(fixture, as: AccessFixture.alice)
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        let id = try #require(fixture.services.pool.resources().last?.id)
        fixture.hub.take(.subscription(id, .event(.unsubscribed(isFinal: false))))
        #expect(fixture.perform("GET", Self.target, as: AccessFixture.alice).isWaiting)
    }

    @Test func callerWithoutRightsIsRefusedThoughAnotherHasRead() async throws {
        var access = AccessFixture.keys()
        let other = Rights(
            operations: Set(Right.allCases),
            upstreams: [WildcardPattern("demo")],
            items: [WildcardPattern("own")]
        )
        access.keys.append(AccessFixture.key("other", "lsg_other", other))
        let fixture = try await AccessFixture(access)
        try await subscribe(fixture, as: AccessFixture.alice)
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        #expect(fixture.perform("GET", Self.target, as: "lsg_other").status == 403)
        #expect(fixture.perform("GET", Self.target, as: AccessFixture.reader).status == 403)
        #expect(fixture.perform("GET", Self.target).status == 401)
        #expect(value(fixture, as: AccessFixture.bob) == "1")
    }

    @Test func keptReadingCountsForNoCaller() async throws {
        let fixture = try await AccessFixture()
        try await subscribe(fixture, as: AccessFixture.alice)
        fixture.time.pass(6)
        fixture.services.timers.runDue()
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        #expect(fixture.services.access.owners.usage.all.isEmpty)
    }

    @Test func requestOfOtherBytesIsAnotherOne() async throws {
        let fixture = try await AccessFixture()
        let target = { (item: String) in "/v1/values?upstream=demo&items=item\(item)&fields=x" }
        let (composed, decomposed) = (target("\u{E4}"), target("a\u{308}"))
        try await subscribe(fixture, as: AccessFixture.alice, composed)
        #expect(fixture.perform("GET", composed, as: AccessFixture.alice).status == 200)
        #expect(fixture.perform("GET", decomposed, as: AccessFixture.alice).isWaiting)
    }

    @Test func feedThatACallerDoesNotSeeIsNotReadAgain() async throws {
        let feeds = [true, false].map { isPublic in
            var feed = FeedConfiguration(name: isPublic ? "open" : "closed")
            feed.isPublic = isPublic
            feed.upstream = "demo"
            feed.items = [FeedItem("item1")].compactMap(\.self)
            feed.fields = [FeedField("x", "string")].compactMap(\.self)
            return feed
        }
        var access = AccessFixture.keys()
        access.publicFeeds = [feeds[0]]
        var rights = KeyConfiguration(name: "").rights
        rights.feeds = [WildcardPattern("open")]
        access.keys.append(AccessFixture.key("open", "lsg_open", rights))
        let fixture = try await AccessFixture(access) { $0.feeds = feeds }
        try await subscribe(fixture, as: AccessFixture.admin, "/feeds/closed/item1")
        #expect(fixture.perform("GET", "/feeds/closed/item1", as: AccessFixture.admin).status == 200)
        #expect(!fixture.services.recentReadings.isEmpty)
        #expect(fixture.perform("GET", "/feeds/closed/item1").status == 401)
        #expect(fixture.perform("GET", "/feeds/open/item1").status == 200)
        #expect(fixture.perform("GET", "/v1/values?feed=closed", as: AccessFixture.admin).status == 200)
        for _ in 0..<2 {
            #expect(fixture.perform("GET", "/v1/values?feed=closed", as: "lsg_open").code == "unknown-feed")
            #expect(fixture.perform("GET", "/v1/values?feed=open", as: "lsg_open").status == 200)
        }
    }

    @Test func quotaIsAskedForEveryRequest() async throws {
        var access = AccessFixture.keys()
        var rights = KeyConfiguration(name: "").rights
        rights.operations = Set(Right.allCases)
        rights.maxSubscriptions = 1
        access.keys.append(AccessFixture.key("small", "lsg_small", rights))
        let fixture = try await AccessFixture(access)
        try await subscribe(fixture, as: AccessFixture.alice)
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        #expect(value(fixture, as: "lsg_small") == "1")
        let stream = fixture.open("GET", "/v1/stream?upstream=demo&items=item2&fields=x", as: "lsg_small")
        #expect(stream.0.isStream)
        #expect(fixture.perform("GET", Self.target, as: "lsg_small").status == 429)
        stream.1?.onEnd(.neverOpened)
    }

    @Test func reloadedConfigurationAppliesAtOnce() async throws {
        let fixture = try await AccessFixture()
        try await subscribe(fixture, as: AccessFixture.alice)
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        var configuration = fixture.services.configuration
        configuration.pool.subscriptionLinger = .zero
        fixture.services.current.replace(by: configuration)
        let reading = fixture.perform("GET", Self.target, as: AccessFixture.alice)
        #expect(reading.status == 200)
        fixture.time.pass(1)
        fixture.services.timers.runDue()
        // Nothing outlives a request where the linger is shorter than the time for which readings are kept.
        #expect(value(fixture, as: AccessFixture.alice) == "1")
        #expect(fixture.services.recentReadings.isEmpty)
    }
}
