internal import Changes
internal import SessionCore
internal import Testing

@testable internal import SessionPool

@Suite struct PoolCreditsTests {
    private static func credits(_ sessions: Int, _ subscriptions: Int, _ items: Int) -> UpstreamCredits {
        UpstreamCredits(sessions: sessions, subscriptions: subscriptions, items: items)
    }

    private static func machine(_ given: UpstreamCredits, sessions: Int = 8) -> PoolMachine {
        var machine = PoolMachine(configuration: .demo { ($0.maxSessions, $0.maxSubscriptions) = (sessions, 10) })
        machine.requireCredits()
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(given, of: "demo") }
        return machine
    }

    private static func shortage(
        _ missing: UpstreamCredits,
        of held: UpstreamCredits,
        isOptional: Bool = false
    ) -> PoolError {
        .creditsNeeded(CreditShortage(upstream: "demo", missing: missing, held: held, isOptional: isOptional))
    }

    @Test func whatIsMissingIsReportedTogether() {
        var machine = Self.machine(Self.credits(0, 1, 1))
        let shortage = Self.shortage(Self.credits(1, 0, 1), of: Self.credits(0, 1, 1))
        #expect(machine.refusal(of: .demo("a", "b"), on: "c1") == shortage)
        let used = machine.figures(of: "demo")
        #expect(used == .none)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(Self.credits(1, 0, 1), of: "demo") }
        #expect(machine.refusal(of: .demo("a", "b"), on: "c1") == nil)
        let further = Self.shortage(Self.credits(0, 1, 1), of: Self.credits(1, 1, 2))
        #expect(machine.refusal(of: .demo("c"), on: "c2") == further)
    }

    @Test func aGroupSharesASessionOnceAnotherOneIsRefused() {
        var machine = Self.machine(Self.credits(1, 9, 9))
        #expect(machine.refusal(of: .demo("a", group: 1), on: "c1") == nil)
        let shortage = Self.shortage(Self.credits(1, 0, 0), of: Self.credits(1, 9, 9), isOptional: true)
        #expect(machine.refusal(of: .demo("b", group: 2), on: "c2") == shortage)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.sessionsRefused(of: "demo") }
        #expect(machine.refusal(of: .demo("b", group: 2), on: "c2") == nil)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(Self.credits(1, 0, 0), of: "demo") }
        #expect(machine.refusal(of: .demo("c", group: 3), on: "c3") == nil)
        let sessions = machine.figures(of: "demo").sessions
        #expect(sessions == 2)
    }

    @Test func theLimitsOfTheConfigurationHoldBesideTheCredits() {
        var machine = Self.machine(Self.credits(9, 99, 99), sessions: 1)
        #expect(machine.refusal(of: .demo("a", group: 1), on: "c1") == nil)
        #expect(machine.refusal(of: .demo("b", group: 2), on: "c2") == nil)
        let sessions = machine.figures(of: "demo").sessions
        #expect(sessions == 1)
    }

    @Test func unusedCreditsAreTakenExceptForReservedOnes() {
        var credits = PoolCredits()
        credits.add(Self.credits(2, 9, 20), of: "demo")
        let reserved = Self.credits(0, 3, 5)
        let taken = credits.takeUnused(of: "demo", used: Self.credits(1, 4, 30), reserved: reserved)
        #expect(taken == Self.credits(1, 2, 0))
        #expect(credits.held(of: "demo") == Self.credits(1, 7, 20))
    }

    @Test func creditsAreIdleAfterAnIntervalWithoutUse() {
        var credits = PoolCredits()
        credits.add(Self.credits(1, 9, 9), of: "demo")
        #expect(credits.takeIdle(of: "demo", used: .none, reserved: .none) == .none)
        credits.used(Self.credits(1, 5, 5), of: "demo")
        #expect(credits.takeIdle(of: "demo", used: .none, reserved: .none) == Self.credits(0, 4, 4))
        #expect(credits.takeIdle(of: "demo", used: .none, reserved: .none) == Self.credits(1, 5, 5))
        #expect(credits.names.isEmpty)
    }

    @Test func creditsThatAreBoundToAUseEndWithIt() {
        var credits = PoolCredits()
        credits.add(Self.credits(2, 9, 9), of: "demo")
        credits.keep(used: Self.credits(1, 3, 3), of: "demo")
        #expect(credits.held(of: "demo") == Self.credits(1, 3, 3))
        credits.add(Self.credits(0, 2, 2), of: "demo")
        credits.closed(Self.credits(0, 2, 2), of: "demo")
        #expect(credits.held(of: "demo") == Self.credits(1, 3, 3))
        let taken = credits.takeUnused(of: "demo", used: Self.credits(1, 1, 1), reserved: .none)
        #expect(taken == Self.credits(0, 4, 4))
        #expect(credits.coverUse(of: "demo", used: Self.credits(2, 1, 1)) == Self.credits(1, 0, 0))
        credits.closed(Self.credits(2, 1, 1), of: "demo")
        #expect(credits.held(of: "demo") == .none && credits.names == ["demo"])
    }

    @Test func refusalNamesTheFirstQuotaThatIsUsedUp() {
        let limits = Self.credits(1, 2, 3)
        let shortage = CreditShortage(
            upstream: "demo",
            missing: Self.credits(1, 1, 1),
            held: .none,
            isOptional: false
        )
        func refusal(_ free: UpstreamCredits) -> PoolError { shortage.refusal(free: free, limits: limits) }
        #expect(refusal(.none) == .overQuota(.subscriptions(upstream: "demo", limit: 2)))
        #expect(refusal(Self.credits(0, 1, 0)) == .overQuota(.items(upstream: "demo", limit: 3)))
        #expect(refusal(Self.credits(0, 1, 1)) == .overQuota(.sessions(upstream: "demo", limit: 1)))
    }
}
