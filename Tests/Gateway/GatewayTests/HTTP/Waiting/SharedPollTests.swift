import JSONText
import MicroHTTPD
import Synchronization
import Testing

@testable import Gateway

/// Long polls that join the wait of an equal one.
@Suite struct SharedPollTests {
    /// A long poll that waits, and the answers to those that join it.
    private final class Poll: Sendable {
        let subscription: String
        let wait: any SharedWait
        private let answers: Answers

        private final class Answers: Sendable { let all = Mutex<[SharedAnswer]>([]) }

        init(_ fixture: AccessFixture, as key: String = AccessFixture.alice, part: String = "/item1") throws {
            let properties = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f1"],"active":false}"#
            let made = fixture.perform("POST", "/v1/subscriptions", as: key, properties)
            subscription = made.headers["Location"] ?? ""
            let target = "\(subscription)/values\(part)"
            let tag = fixture.perform("GET", target, as: key).headers["ETag"] ?? ""
            let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=30")]
            let responder = HTTPResponder { _ in }
            let decision = fixture.host.handle(HTTPRequest("GET", target, as: key, headers, ""), responder)
            guard case .wait = decision else { throw Problem(.internal) }
            let answers = Answers()
            let offer = try #require(responder.expectAnswer())
            guard let wait = offer({ answer in answers.all.withLock { $0.append(answer) } }) else {
                throw Problem(.gatewayFull)
            }
            self.wait = wait
            self.answers = answers
        }

        func join() -> (any JoinedRequest)? {
            if case .joined(let request) = entry() { request } else { nil }
        }

        /// The refusal of a request; nil: the request waits, or is handled alone.
        func refusal() -> Fixture.Outcome? {
            if case .refused(let response) = entry() { Fixture.outcome(response) } else { nil }
        }

        /// Whether requests are handled alone.
        var isClosed: Bool { if case .closed = entry() { true } else { false } }

        private func entry() -> SharedWaitEntry { wait.join(from: PeerAddress(host: "127.0.0.1", port: 1)) }

        /// The answers; the first one counts.
        var all: [SharedAnswer] { answers.all.withLock(\.self) }
    }

    @Test func aChangeMakesOneResponseForAllRequests() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        let joined = try (0..<3).map { _ in try #require(poll.join()) }
        let activated = fixture.perform("POST", poll.subscription + "/subscribe", as: AccessFixture.alice)
        #expect(activated.status == 202)
        guard case .same(let response) = poll.all.first else { throw Problem(.internal) }
        #expect(response.status == 200)
        #expect(Fixture.outcome(response).json["fields"]?["f1"] == .null)
        #expect(response.headers["ETag"] != nil)
        #expect(response.headers["Preference-Applied"] == "wait=30")
        #expect(response.headers["X-Content-Type-Options"] == "nosniff")
        #expect(response.headers["X-Request-Id"] == nil)
        #expect(Set(joined.compactMap { $0.fields["X-Request-Id"] }).count == 3)
        joined.forEach { $0.answered(status: 200) }
        var text = MetricsText()
        fixture.requests.write(to: &text)
        // The founder's request is counted as well.
        #expect(text.text.contains(#"route="getItemValues",method="GET",status="200"} 5"#), "\(text.text)")
    }

    @Test func aProblemHasTheIDOfEachRequest() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        let joined = try (0..<2).map { _ in try #require(poll.join()) }
        _ = fixture.perform("DELETE", poll.subscription, as: AccessFixture.alice)
        guard case .each(let make) = poll.all.first else { throw Problem(.internal) }
        for request in joined {
            let outcome = Fixture.outcome(make(request))
            #expect(outcome.status == 404)
            #expect(outcome.headers["X-Request-Id"] == request.fields["X-Request-Id"])
            #expect(outcome.json["instance"]?.string == request.fields["X-Request-Id"])
        }
    }

    @Test func theLossOfRightsEndsAllRequests() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        let joined = try #require(poll.join())
        var access = AccessFixture.keys()
        access.keys[1].rights.items = [WildcardPattern("item2")]
        let revocation = try fixture.services.access.load(access)
        fixture.services.end(revocation)
        guard case .each(let make) = poll.all.first else { throw Problem(.internal) }
        #expect(make(joined).status == 401)
        #expect(poll.isClosed)
    }

    @Test func aWaitIsClosedWhenThePolicyChanges() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.rate = 10
        let fixture = try await AccessFixture(access)
        let poll = try Poll(fixture)
        let before = try #require(poll.join())
        access.keys[1].rights.items = [WildcardPattern("item2")]
        _ = try fixture.services.access.load(access)
        #expect(poll.isClosed)
        let after = fixture.perform("GET", "/v1/upstreams", as: AccessFixture.alice)
        #expect(Self.remaining(after.headers["RateLimit"]) == Self.remaining(before.fields["RateLimit"]).map { $0 - 1 })
    }

    @Test func aWaitIsClosedWhenTheSubscriptionEnds() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        _ = fixture.perform("DELETE", poll.subscription, as: AccessFixture.alice)
        #expect(poll.isClosed)
    }

    /// The number of further requests in a `RateLimit` header.
    private static func remaining(_ header: String?) -> Int? {
        header?.split(separator: ";").first { $0.hasPrefix("r=") }.flatMap { Int($0.dropFirst(2)) }
    }

    @Test func requestsThatJoinCountTowardsTheLimits() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.rate = Double(WaitingRequests.limit + 10)
        let fixture = try await AccessFixture(access)
        let poll = try Poll(fixture)
        var joined = (1..<WaitingRequests.limit).compactMap { _ in poll.join() }
        #expect(joined.count == WaitingRequests.limit - 1)
        #expect(joined[0].fields["RateLimit"] != joined[1].fields["RateLimit"])
        // A refusal counts once, as an admission does.
        #expect(poll.refusal()?.json["code"]?.string == "over-quota")
        let before = try #require(Self.remaining(joined[joined.count - 1].fields["RateLimit"]))
        joined.removeLast().abandoned()
        let last = try #require(poll.join())
        #expect(Self.remaining(last.fields["RateLimit"]) == before - 2)
        last.abandoned()
        var refusal: Fixture.Outcome?
        for _ in 0..<(before - 1) where refusal == nil {
            if let next = poll.join() { next.abandoned() } else { refusal = poll.refusal() }
        }
        #expect(refusal?.status == 429)
        #expect(refusal?.json["code"]?.string == "rate-limited")
        #expect(refusal?.headers["X-Request-Id"] == refusal?.json["instance"]?.string)
    }

    @Test func theEndOfTheGatewayAnswersAllRequests() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        let joined = try #require(poll.join())
        #expect(joined.timedOut().status == 304)
        fixture.host.stopAccepting()
        guard case .same(let response) = poll.all.first else { throw Problem(.internal) }
        #expect(response.status == 304)
    }

    /// A wait without an entry would go on when its caller loses rights.
    @Test func requestsWaitAloneWhereTooManyWait() async throws {
        let fixture = try await AccessFixture { $0.http.connectionLimit = 1 }
        let problem = #expect(throws: Problem.self) { try Poll(fixture) }
        #expect(problem?.code == .gatewayFull)
        #expect(fixture.services.waiting.count == 1)
    }

    @Test func theEndOfTheWaitRemovesItsEntries() async throws {
        let fixture = try await AccessFixture()
        let poll = try Poll(fixture)
        #expect(fixture.services.waiting.count == 2)
        poll.wait.end()
        #expect(fixture.services.waiting.count == 1)
        _ = fixture.perform("DELETE", poll.subscription, as: AccessFixture.alice)
        #expect(poll.all.isEmpty)
    }
}
