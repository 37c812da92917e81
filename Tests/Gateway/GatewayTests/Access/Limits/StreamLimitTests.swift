import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct StreamLimitTests {
    private static let browser = [HTTPField("Accept", "text/event-stream")]

    private func fixture(perKey: Int? = nil, all: Int = 100) async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.keys[1].rights.streams = perKey
        return try await AccessFixture(access, maxStreams: all)
    }

    @Test func aKeyOpensAsManyStreamsAsItMay() async throws {
        let fixture = try await fixture(perKey: 1)
        let target = "/v1/subscriptions/\(fixture.makeSubscription(as: AccessFixture.alice))/events"
        let (first, content) = fixture.open("GET", target, as: AccessFixture.alice)
        #expect(first.isStream)
        let refused = fixture.perform("GET", target, as: AccessFixture.alice)
        #expect(refused.status == 503)
        #expect(refused.json["code"]?.string == "stream-limit")
        #expect(refused.headers["Retry-After"] == "5")
        #expect(refused.detail == "The maximum of 1 streams for these credentials is open (auth.keys.alice.streams).")
        let closing = fixture.perform("GET", target, as: AccessFixture.alice, "", Self.browser)
        #expect(closing.status == 200)
        #expect(closing.text.hasPrefix("retry: ") && closing.text.contains("event: closing"))
        let own = fixture.makeSubscription(as: AccessFixture.bob)
        #expect(fixture.perform("GET", "/v1/subscriptions/\(own)/events", as: AccessFixture.bob).isStream)
        content?.onEnd(.neverOpened)
        #expect(fixture.perform("GET", target, as: AccessFixture.alice).isStream)
        #expect(fixture.services.streams.count == 0)
    }

    @Test func preparedStreamsCountToo() async throws {
        let fixture = try await fixture(perKey: 2)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let statuses = (0..<3).map { _ in
            fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, body).status
        }
        #expect(statuses == [201, 201, 503])
        let refused = fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, body)
        #expect(refused.json["code"]?.string == "stream-limit")
        #expect(refused.detail?.hasSuffix("is open or prepared (auth.keys.alice.streams).") == true)
        #expect(fixture.services.streamResources.waiting == 2)
    }

    @Test func allCallersTogetherHaveALimit() async throws {
        let fixture = try await fixture(all: 1)
        let target = "/v1/subscriptions/\(fixture.makeSubscription(as: AccessFixture.alice))/events"
        let (_, content) = fixture.open("GET", target, as: AccessFixture.alice)
        let refused = fixture.perform("GET", target, as: AccessFixture.alice)
        #expect(refused.status == 503)
        #expect(refused.json["code"]?.string == "gateway-full")
        #expect(refused.detail == "The maximum of 1 streams of all callers is open (streams.max).")
        #expect(fixture.perform("GET", target, as: AccessFixture.alice, "", Self.browser).status == 200)
        content?.onEnd(.neverOpened)
    }

    /// `HEAD` was 200 where `GET` was 503.
    @Test(arguments: [(1, 100), (nil, 1)] as [(Int?, Int)])
    func headOfAStreamThatCannotBeOpenedIsRefused(perKey: Int?, all: Int) async throws {
        let fixture = try await fixture(perKey: perKey, all: all)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let made = fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, body)
        let targets = ["/v1/subscriptions/\(id)/events", try #require(made.json["url"]?.string)]
        let (_, content) = fixture.open("GET", targets[0], as: AccessFixture.alice)
        for method in ["GET", "HEAD"] {
            let refused = targets.map { fixture.perform(method, $0, as: AccessFixture.alice) }
            #expect(refused.map(\.status) == [503, 503], "\(method)")
            #expect(refused.map { $0.headers["Retry-After"] } == ["5", "5"], "\(method)")
        }
        content?.onEnd(.neverOpened)
        for target in targets { #expect(fixture.perform("HEAD", target, as: AccessFixture.alice).status == 200) }
    }

    @Test func aGatewayThatIsStoppingTellsAnEventSourceToTryAgain() async throws {
        let fixture = try await fixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let made = fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, body)
        fixture.host.stopAccepting()
        for target in ["/v1/subscriptions/\(id)/events", try #require(made.json["url"]?.string)] {
            for method in ["GET", "HEAD"] {
                #expect(fixture.perform(method, target, as: AccessFixture.alice).status == 503)
            }
            let closing = fixture.perform("GET", target, as: AccessFixture.alice, "", Self.browser)
            #expect(closing.status == 200)
            #expect(closing.text.hasPrefix("retry: ") && closing.text.contains(#"{"reason":"shutdown"}"#))
        }
    }

    @Test func aRefusedStreamKeepsNothing() async throws {
        let fixture = try await fixture(perKey: 0)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        #expect(fixture.perform("GET", "/v1/stream?subscription=\(id)", as: AccessFixture.alice).status == 503)
        #expect(fixture.services.streamResources.ids.isEmpty)
        #expect(fixture.services.streams.count == 0)
    }

    @Test func aStreamEndsWithTheTokenThatOpenedIt() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let claims = #""operations":["read","subscribe"],"upstreams":["*"],"items":["*"]"#
        let token = try TokenForge.token(claims, expiry: fixture.time.wall + 60)
        let id = fixture.makeSubscription(as: token)
        let (outcome, content) = fixture.open("GET", "/v1/subscriptions/\(id)/events", as: token)
        #expect(outcome.isStream)
        #expect(fixture.services.timers.count == 1)
        fixture.services.endExpiredStreams()
        #expect(fixture.hub.closeReason(of: content?.id ?? "") == nil)
        // The timer of the stream does not run.
        fixture.time.pass(1_000)
        fixture.services.endExpiredStreams()
        #expect(fixture.hub.closeReason(of: content?.id ?? "") == "token-expired")
        content?.onEnd(.neverOpened)
        #expect(fixture.services.timers.count == 0)
    }
}
