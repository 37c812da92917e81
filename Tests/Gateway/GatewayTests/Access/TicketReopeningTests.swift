import MicroHTTPD
import SessionPool
import StreamIO
import Testing

@testable import Gateway

@Suite struct TicketReopeningTests {
    private static let last = HTTPField("Last-Event-ID", "e-1")

    private func target(_ ticket: String, _ id: String, _ more: String = "") -> String {
        "/v1/subscriptions/\(id)/events?\(more)ticket=\(ticket)"
    }

    private func closeReason(_ fixture: AccessFixture, _ stream: AdmittedStream?) -> String? {
        fixture.hub.closeReason(of: stream?.id ?? "")
    }

    @Test func aTicketReopensItsStreamUntilAMinuteAfterItClosed() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        for _ in 0..<3 {
            let (outcome, stream) = fixture.open("GET", target(ticket, id), "", [Self.last])
            #expect(outcome.isStream)
            fixture.time.pass(1_000)
            stream?.onEnd(.peerClosed)
            fixture.time.pass(59)
        }
        fixture.time.pass(2)
        #expect(fixture.perform("GET", target(ticket, id), "", [Self.last]).status == 401)
    }

    @Test func withoutTheIdOfALastEventAUsedTicketIsRefused() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let (outcome, stream) = fixture.open("GET", target(ticket, id))
        #expect(outcome.isStream)
        stream?.onEnd(.peerClosed)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
        #expect(fixture.perform("GET", target(ticket, id), "", [HTTPField("Last-Event-ID", "")]).status == 401)
        for headers in [[], [HTTPField("Last-Event-ID", "")]] {
            #expect(fixture.perform("GET", target(ticket, id, "lastEventId=e-1&"), "", headers).isStream)
        }
    }

    @Test func itReopensNothingElse() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let other = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        #expect(fixture.perform("GET", target(ticket, id)).isStream)
        for wrong in [
            target(ticket, other), target(ticket, id, "conflate=false&"),
            "/v1/stream?subscription=\(id)&ticket=\(ticket)",
        ] {
            #expect(fixture.perform("GET", wrong, "", [Self.last]).status == 401)
        }
        #expect(fixture.perform("POST", "/v1/tickets?ticket=\(ticket)", "", [Self.last]).status == 401)
    }

    @Test func itEndsTheStreamThatItOpenedBefore() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let (_, first) = fixture.open("GET", target(ticket, id))
        let (again, second) = fixture.open("GET", target(ticket, id), "", [Self.last])
        #expect(again.isStream)
        #expect(closeReason(fixture, first) == "replaced")
        #expect(closeReason(fixture, second) == nil)
        // The end of the first one does not begin the time of the ticket.
        first?.onEnd(.peerClosed)
        fixture.time.pass(100)
        #expect(fixture.perform("GET", target(ticket, id), "", [Self.last]).isStream)
    }

    /// The body of a request may arrive long after the steps before its handler.
    @Test func requestsThatAreAdmittedTogetherLeaveOneStream() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let (_, first) = fixture.open("GET", target(ticket, id))
        let request = HTTPRequest("GET", target(ticket, id), as: nil, [Self.last])
        let admitted = (0..<2).map { _ in fixture.host.screen(request) }
        let streams = admitted.compactMap { screening -> AdmittedStream? in
            guard case .acceptIgnoringBody(let perform) = screening,
                case .stream(_, let stream) = perform(request, HTTPResponder { $0.refuse() })
            else { return nil }
            return stream
        }
        #expect(streams.count == 2)
        let reasons = [first, streams.first, streams.last].map { closeReason(fixture, $0) }
        #expect(reasons == ["replaced", "replaced", nil])
        for stream in streams { stream.onEnd(.neverOpened) }
    }

    @Test func aPreparedStreamThatIsOpenIsClosedForTheNextAttempt() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        let made = fixture.perform("POST", "/v1/streams", as: AccessFixture.alice, body)
        let url = try #require(made.json["url"]?.string) + "?ticket=" + fixture.makeTicket(as: AccessFixture.alice)
        let (_, first) = fixture.open("GET", url)
        let accept = HTTPField("Accept", "text/event-stream")
        let refused = fixture.perform("GET", url, "", [Self.last, accept])
        #expect(refused.status == 200)
        #expect(refused.text.contains(#"{"reason":"replaced"}"#))
        #expect(closeReason(fixture, first) == "replaced")
        first?.onEnd(.peerClosed)
        #expect(fixture.perform("GET", url, "", [Self.last, accept]).isStream)
    }

    @Test(arguments: [(1, nil), (100, 1)] as [(Int, Int?)])
    func aClientThatIsToldToComeBackKeepsItsTicket(maxStreams: Int, ofCaller: Int?) async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.streams = ofCaller
        let fixture = try await AccessFixture(access, maxStreams: maxStreams)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let (_, other) = fixture.open("GET", "/v1/subscriptions/\(id)/events", as: AccessFixture.alice)
        let accept = HTTPField("Accept", "text/event-stream")
        for _ in 0..<3 {
            fixture.time.pass(29)
            let refused = fixture.perform("GET", target(ticket, id), "", [accept])
            #expect(refused.status == 200)
            #expect(refused.text.contains(#"{"reason":"stream-limit"}"#))
        }
        #expect(fixture.perform("GET", target(ticket, id, "conflate=false&"), "", [accept]).status == 401)
        other?.onEnd(.peerClosed)
        #expect(fixture.perform("GET", target(ticket, id), "", [accept]).isStream)
        #expect(fixture.perform("GET", target(ticket, id), "", [accept]).status == 401)
    }

    @Test func itReopensItsStreamAtTheLimitOfItsCaller() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.streams = 1
        let fixture = try await AccessFixture(access)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let (_, first) = fixture.open("GET", target(ticket, id))
        let (again, second) = fixture.open("GET", target(ticket, id), "", [Self.last])
        #expect(again.isStream)
        #expect(closeReason(fixture, first) == "replaced")
        let events = "/v1/subscriptions/\(id)/events"
        for stream in [first, second] {
            #expect(fixture.perform("GET", events, as: AccessFixture.alice).status == 503)
            stream?.onEnd(.peerClosed)
        }
        // Another stream is not replaced.
        let (other, _) = fixture.open("GET", events, as: AccessFixture.alice)
        #expect(other.isStream)
        #expect(fixture.perform("GET", target(ticket, id), "", [Self.last]).status == 503)
    }

    @Test func itIsValidNoLongerThanTheTokenOfItsCaller() async throws {
        var access = TokenForge.configuration()
        access.webTokens.leeway = .zero
        let fixture = try await AccessFixture(access)
        let token = try TokenForge.token(#""operations":"read""#, expiry: fixture.time.wall + 5)
        #expect(fixture.perform("POST", "/v1/tickets", as: token).json["expiresIn"]?.number?.text == "5")
    }

    @Test func aClientThatIsTooFastKeepsItsTicket() async throws {
        var access = AccessFixture.keys()
        access.keys[1].rights.rate = 1
        let fixture = try await AccessFixture(access)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        fixture.time.pass(1)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        for _ in 0..<2 {
            let refused = fixture.perform("GET", target(ticket, id))
            #expect(refused.status == 429)
            #expect(refused.headers["Retry-After"] == "1")
        }
        fixture.time.pass(1)
        #expect(fixture.perform("GET", target(ticket, id)).isStream)
    }

    @Test func aClientOfAFullUpstreamKeepsItsTicket() async throws {
        var upstreams = AccessFixture.upstreams
        upstreams[0].maxSubscriptions = 1
        let fixture = try await AccessFixture(upstreams: upstreams)
        let join = "/v1/stream?upstream=demo&fields=f&items="
        let (_, other) = fixture.open("GET", join + "item1", as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        for _ in 0..<2 {
            let refused = fixture.perform("GET", join + "item2&ticket=\(ticket)")
            #expect(refused.status == 429)
            #expect(refused.code == "over-quota")
        }
        #expect(fixture.perform("GET", join + "item1&ticket=\(ticket)").status == 401)
        other?.onEnd(.peerClosed)
        #expect(fixture.perform("GET", join + "item2&ticket=\(ticket)").isStream)
    }

    @Test func aTicketThatWasNotUsedAgainInTimeIsRefused() async throws {
        let fixture = try await AccessFixture(maxStreams: 0)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        #expect(fixture.perform("GET", target(ticket, id)).status == 503)
        fixture.time.pass(60)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
    }

    @Test func itDoesNotOutliveItsKey() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        #expect(fixture.perform("GET", target(ticket, id)).isStream)
        var access = AccessFixture.keys()
        access.keys.removeAll { $0.name == "alice" }
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", target(ticket, id), "", [Self.last]).status == 401)
    }
}
