import SessionCore
import Testing

@testable import Gateway

@Suite struct TicketStoreTests {
    private func target(_ ticket: String, _ id: String) -> String { "/v1/subscriptions/\(id)/events?ticket=\(ticket)" }

    private static let target = StreamTarget(digest: [1], isResumed: false)

    @Test func aTicketOpensOneStream() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let made = fixture.perform("POST", "/v1/tickets", as: AccessFixture.alice)
        #expect(made.status == 201)
        #expect(made.headers["Cache-Control"] == "no-store")
        let ticket = try #require(made.json["ticket"]?.string)
        #expect(fixture.perform("GET", target(ticket, id)).isStream)
        let again = fixture.perform("GET", target(ticket, id))
        #expect(again.status == 401)
        #expect(!again.text.contains(ticket))
    }

    /// A handler refuses the stream, or a step before it.
    @Test(arguments: [("", 404), ("&conflate=x", 422), ("&other=x", 422)])
    func aRefusedUseLeavesItValidForItsURL(more: String, status: Int) async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let target = target(fixture.makeTicket(as: AccessFixture.bob), id)
        for _ in 0..<3 {
            #expect(fixture.perform("GET", target + more).status == status)
            fixture.time.pass(59)
        }
        #expect(fixture.perform("GET", target + "&format=sse").status == 401)
        fixture.time.pass(1)
        #expect(fixture.perform("GET", target + more).status == 401)
    }

    @Test func aTicketExpires() async throws {
        let tickets = TicketStore()
        let fixture = try await AccessFixture(tickets: tickets)
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        fixture.time.pass(30)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
        #expect(tickets.count == 0)
    }

    @Test func aTicketOpensNothingButStreams() async throws {
        let fixture = try await AccessFixture()
        for target in ["/v1/clients", "/v1/subscriptions", "/v1/streams", "/metrics", "/health"] {
            let ticket = fixture.makeTicket(as: AccessFixture.admin)
            #expect(fixture.perform("GET", "\(target)?ticket=\(ticket)").status == 401)
        }
        let ticket = fixture.makeTicket(as: AccessFixture.admin)
        #expect(fixture.perform("POST", "/v1/tickets?ticket=\(ticket)").status == 401)
    }

    @Test(arguments: ["lsg_alice", "a.b.c", "", "lst_", "lst_AAAA"])
    func invalidTicketIsRefused(ticket: String) async throws {
        let outcome = try await AccessFixture().perform("GET", "/v1/stream?subscription=x&ticket=\(ticket)")
        #expect(outcome.status == (ticket.hasPrefix("lst_") ? 401 : 400))
    }

    @Test func headLeavesTheTicketValid() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        #expect(fixture.perform("HEAD", target(ticket, id)).status == 200)
        #expect(fixture.perform("GET", target(ticket, id)).isStream)
        #expect(fixture.perform("HEAD", target(ticket, id)).status == 401)
    }

    @Test func aTicketDoesNotOutliveItsKey() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        let unchanged = fixture.makeTicket(as: AccessFixture.admin)
        var access = AccessFixture.keys()
        access.keys[1].hash = KeyHash(of: "lsg_new")
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
        #expect(fixture.perform("GET", target(unchanged, id)).isStream)
    }

    @Test func aTicketDoesNotOutliveTheRightsOfItsKey() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        var access = AccessFixture.keys()
        access.keys[1].rights.items = []
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
        let other = fixture.makeTicket(as: AccessFixture.alice)
        access.keys.remove(at: 1)
        _ = try fixture.services.access.load(access)
        #expect(fixture.perform("GET", target(other, id)).status == 401)
    }

    @Test func aTicketDoesNotOutliveTheTokenBehindIt() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let token = try TokenForge.token(expiry: fixture.time.wall + 1 - 30)
        let ticket = fixture.makeTicket(as: token)
        #expect(ticket.hasPrefix("lst_"))
        fixture.time.pass(2)
        #expect(fixture.perform("GET", "/v1/stream?subscription=x&ticket=\(ticket)").status == 401)
    }

    @Test func theStoreIsBounded() {
        let store = TicketStore(maxTickets: 5, maxTicketsPerCaller: 2)
        let caller = Caller(identity: "key:a")
        let other = Caller(identity: "key:b")
        for _ in 0..<2 { #expect(store.issue(to: caller, lifetime: .seconds(30), now: .zero) != nil) }
        #expect(store.issue(to: caller, lifetime: .seconds(30), now: .zero) == nil)
        let ticket = store.issue(to: other, lifetime: .seconds(30), now: .zero)
        #expect(store.redeem(ticket?.text ?? "", for: Self.target, now: .zero)?.caller == other)
        #expect(store.issue(to: caller, lifetime: .seconds(30), now: .zero + .seconds(31)) != nil)
        #expect(store.count == 1)
    }

    /// As after a reload with a shorter lifetime. The ticket behind the one that lives longer stayed, and counted.
    @Test func aTicketThatLivesLongerKeepsNoExpiredOnes() {
        let store = TicketStore(maxTickets: 5, maxTicketsPerCaller: 2)
        let caller = Caller(identity: "key:a")
        let long = store.issue(to: caller, lifetime: .seconds(3_600), now: .zero)
        #expect(store.issue(to: caller, lifetime: .seconds(30), now: .zero) != nil)
        #expect(store.issue(to: caller, lifetime: .seconds(30), now: .zero + .seconds(31)) != nil)
        #expect(store.count == 2 && store.held == 2)
        #expect(store.redeem(long?.text ?? "", for: Self.target, now: .zero + .seconds(3_599))?.caller == caller)
        #expect(store.count == 0)
    }

    @Test func ticketsMadeAndUsedInALoopDoNotPileUp() {
        let store = TicketStore(maxTickets: 5, maxTicketsPerCaller: 5)
        let caller = Caller(identity: "key:a")
        let waiting = store.issue(to: caller, lifetime: .seconds(30), now: .zero)
        for _ in 0..<1_000 {
            let ticket = store.issue(to: caller, lifetime: .seconds(30), now: .zero)
            #expect(ticket.flatMap { store.redeem($0.text, for: Self.target, now: .zero)?.caller } == caller)
        }
        #expect(store.held < 100)
        #expect(store.redeem(waiting?.text ?? "", for: Self.target, now: .zero)?.caller == caller)
    }

    @Test func aTicketThatIsRefusedInALoopDropsNoOther() throws {
        let store = TicketStore(maxTickets: 100, maxTicketsPerCaller: 5)
        let caller = Caller(identity: "key:a")
        let tickets = (0..<2).compactMap { _ in store.issue(to: caller, lifetime: .seconds(30), now: .zero)?.text }
        let (closed, refused) = (try #require(tickets.first), try #require(tickets.last))
        let use = try #require(store.redeem(closed, for: Self.target, now: .zero))
        _ = store.opened(use, stream: "t")
        store.closed(use, stream: "t", now: .zero)
        for number in 0..<1_000 {
            let now = Moment.zero + .milliseconds(number)
            store.giveBack(try #require(store.redeem(refused, for: Self.target, now: now)), now: now)
        }
        let resumed = StreamTarget(digest: [1], isResumed: true)
        #expect(store.redeem(closed, for: resumed, now: .zero + .seconds(2))?.isReopening == true)
    }

    @Test func streamsOpenedAndClosedInALoopDoNotPileUp() {
        let store = TicketStore(maxTickets: 5, maxTicketsPerCaller: 5)
        let caller = Caller(identity: "key:a")
        for number in 0..<100 {
            let ticket = store.issue(to: caller, lifetime: .seconds(30), now: .zero)
            guard let use = ticket.flatMap({ store.redeem($0.text, for: Self.target, now: .zero) }) else { return }
            _ = store.opened(use, stream: "t\(number)")
            store.closed(use, stream: "t\(number)", now: .zero)
        }
        #expect(store.streams == 5)
        let ticket = store.issue(to: caller, lifetime: .seconds(30), now: .zero + .seconds(61))
        guard let use = store.redeem(ticket?.text ?? "", for: Self.target, now: .zero + .seconds(61)) else {
            Issue.record("the ticket was refused")
            return
        }
        _ = store.opened(use, stream: "t")
        store.closed(use, stream: "t", now: .zero + .seconds(61))
        #expect(store.streams == 1)
    }
}
