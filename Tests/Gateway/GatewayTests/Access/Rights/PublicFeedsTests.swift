import JSONText
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

@Suite struct PublicFeedsTests {
    private func fixture() async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.publicFeeds = [FeedConfiguration(name: "open")]
        let fixture = try await AccessFixture(access)
        var configuration = fixture.services.configuration
        for isPublic in [true, false] {
            var feed = FeedConfiguration(name: isPublic ? "open" : "closed")
            feed.isPublic = isPublic
            feed.upstream = configuration.pool.upstreams.first?.name
            feed.items = [FeedItem(isPublic ? "a" : "b")].compactMap { $0 }
            feed.fields = [FeedField("x", "string")].compactMap { $0 }
            configuration.feeds.append(feed)
        }
        fixture.services.current.replace(by: configuration)
        return fixture
    }

    @Test func publicFeedNeedsNoCredentials() async throws {
        let fixture = try await fixture()
        let feeds = fixture.perform("GET", "/v1/feeds").json["feeds"]?.array ?? []
        #expect(feeds.compactMap { $0["name"]?.string } == ["open"])
        let upstream = fixture.services.configuration.feeds[0].upstream ?? ""
        let target = "/v1/values?upstream=\(upstream)&fields=x&items="
        // Values do not arrive without a server, but the request is admitted.
        #expect(fixture.wait0("/v1/values?feed=open").status == 504)
        #expect(fixture.wait0(target + "a").status == 504)
        for closed in ["/v1/values?feed=closed", target + "b", target + "a,b", "/v1/stream?feed=closed"] {
            #expect(fixture.wait0(closed).status == 401, "\(closed)")
        }
        // Whether there is such a feed is told to callers with credentials only.
        for path in ["/feeds/closed", "/feeds/none"] { #expect(fixture.perform("GET", path).status == 401, "\(path)") }
        for query in ["feed=none", "feed=closed&items=none", "feed=closed&fields=none", "feed=closed&mode=RAW"] {
            #expect(fixture.wait0("/v1/values?" + query).status == 401, "\(query)")
            #expect(fixture.wait0("/v1/stream?" + query).status == 401, "\(query)")
            let refused = fixture.perform("GET", "/v1/values?" + query, as: AccessFixture.admin)
            #expect([404, 422].contains(refused.status), "\(query)")
        }
        #expect(fixture.perform("GET", "/v1/subscriptions").status == 401)
    }

    /// The server tells items by their bytes: a letter with a combining mark is another one than the composed letter.
    @Test func itemsOfOtherBytesBelongToNoPublicFeed() async throws {
        let fixture = try await fixture()
        try await fixture.reload { $0.feeds[0].items = [FeedItem("\u{E4}")].compactMap(\.self) }
        let upstream = fixture.services.configuration.feeds[0].upstream ?? ""
        let target = "/v1/values?upstream=\(upstream)&fields=x&items="
        #expect(fixture.wait0(target + "%C3%A4").status == 504)
        #expect(fixture.wait0("/feeds/open/%C3%A4").status == 504)
        #expect(fixture.wait0(target + "a%CC%88").status == 401)
        #expect(fixture.wait0("/v1/stream?upstream=\(upstream)&fields=x&items=a%CC%88").status == 401)
        #expect(fixture.wait0("/feeds/open/a%CC%88").code == "unknown-item")
    }

    @Test func reloadEndsStreamsOfFeedsThatAreNoLongerPublicOnly() async throws {
        let changes: [(Bool, (inout GatewayConfiguration) -> Void)] = [
            (false, { $0.access.keys.removeLast() }), (true, { $0.feeds[0].isPublic = false }),
            (true, { $0.feeds[0].items = [FeedItem("c")].compactMap { $0 } }),
        ]
        for (isRevoked, change) in changes {
            let fixture = try await fixture()
            let stream = try #require(fixture.open("GET", "/v1/stream?feed=open").1)
            try await fixture.reload(change)
            #expect(fixture.events(stream).contains(#""reason":"revoked""#) == isRevoked)
        }
    }

    @Test func wrongCredentialsAreRefusedForPublicFeedsToo() async throws {
        #expect(try await fixture().perform("GET", "/v1/feeds", as: "lsg_wrong").status == 401)
    }
}

extension AccessFixture {
    /// Applies a changed configuration.
    func reload(_ change: (inout GatewayConfiguration) -> Void) async throws {
        var configuration = services.configuration
        change(&configuration)
        configuration.access.publicFeeds = configuration.feeds.filter(\.isPublic)
        let revocation = try services.access.load(configuration.access)
        services.current.replace(by: configuration)
        services.end(revocation)
    }

    /// The response to a GET that does not wait.
    fileprivate func wait0(_ target: String) -> Fixture.Outcome {
        perform("GET", target, "", [HTTPField("Prefer", "wait=0")])
    }
}
