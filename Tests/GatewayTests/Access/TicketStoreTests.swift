import SessionCore
import Testing

@testable import Gateway

@Suite struct TicketTests {
    private func target(_ ticket: String, _ id: String) -> String { "/v1/subscriptions/\(id)/events?ticket=\(ticket)" }

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

    @Test func aRefusedUseUsesItUpAsWell() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.bob)
        #expect(fixture.perform("GET", target(ticket, id)).status == 404)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
    }

    @Test func aTicketExpires() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        fixture.time.pass(30)
        #expect(fixture.perform("GET", target(ticket, id)).status == 401)
        #expect(fixture.services.access.tickets.count == 0)
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
    func whatIsNoTicketIsRefused(ticket: String) async throws {
        let outcome = try await AccessFixture().perform("GET", "/v1/stream?subscription=x&ticket=\(ticket)")
        #expect(outcome.status == (ticket.hasPrefix("lst_") ? 401 : 400))
    }

    @Test func aTicketIsWorthNoMoreThanItsMakerIsNow() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let ticket = fixture.makeTicket(as: AccessFixture.alice)
        var access = AccessFixture.keys()
        access.keys[1].rights.items = []
        _ = try await fixture.services.access.load(access)
        #expect(fixture.perform("GET", target(ticket, id)).status == 404)
        let other = fixture.makeTicket(as: AccessFixture.alice)
        access.keys.remove(at: 1)
        _ = try await fixture.services.access.load(access)
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

    @Test func anOfficeIsBounded() {
        let office = TicketStore(maxTickets: 5, maxTicketsPerCaller: 2)
        let caller = Caller(identity: "key:a")
        let other = Caller(identity: "key:b")
        for _ in 0..<2 { #expect(office.issue(to: caller, lifetime: .seconds(30), now: .zero) != nil) }
        #expect(office.issue(to: caller, lifetime: .seconds(30), now: .zero) == nil)
        let ticket = office.issue(to: other, lifetime: .seconds(30), now: .zero)
        #expect(office.redeem(ticket?.text ?? "", now: .zero) == other)
        #expect(office.issue(to: caller, lifetime: .seconds(30), now: .zero + .seconds(31)) != nil)
        #expect(office.count == 1)
    }

    @Test func ticketsMadeAndUsedInALoopDoNotPileUp() {
        let office = TicketStore(maxTickets: 5, maxTicketsPerCaller: 5)
        let caller = Caller(identity: "key:a")
        let waiting = office.issue(to: caller, lifetime: .seconds(30), now: .zero)
        for _ in 0..<1_000 {
            let ticket = office.issue(to: caller, lifetime: .seconds(30), now: .zero)
            #expect(ticket.flatMap { office.redeem($0.text, now: .zero) } == caller)
        }
        #expect(office.held < 100)
        #expect(office.redeem(waiting?.text ?? "", now: .zero) == caller)
    }
}
