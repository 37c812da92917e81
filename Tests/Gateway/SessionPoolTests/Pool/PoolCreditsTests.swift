internal import Changes
internal import SessionCore
internal import Testing

@testable internal import SessionPool

@Suite struct PoolCreditsTests {
    private static func credits(_ sessions: Int, _ subscriptions: Int, _ items: Int) -> UpstreamCredits {
        UpstreamCredits(sessions: sessions, subscriptions: subscriptions, items: items)
    }

    private static func key(_ items: String..., group: UInt64? = nil) -> SharedKey {
        SharedKey(
            session: SessionKey(upstream: "demo", user: nil, password: nil, group: group),
            properties: SubscriptionProperties(mode: .merge, items: .list(items), fields: .list(["f"]))
        )
    }

    private static func machine(_ given: UpstreamCredits, sessions: Int = 8) -> PoolMachine {
        var upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")
        upstream.maxSessions = sessions
        upstream.maxSubscriptions = 10
        var machine = PoolMachine(configuration: PoolConfiguration(upstreams: [upstream]))
        machine.requireCredits()
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(given, of: "demo") }
        return machine
    }

    private static func refusal(_ key: SharedKey, _ client: String, _ machine: inout PoolMachine) -> PoolError? {
        do {
            _ = try machine.acquired(key, freshClient: ClientID(client))
            return nil
        } catch {
            return error
        }
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
        #expect(Self.refusal(Self.key("a", "b"), "c1", &machine) == shortage)
        let used = machine.figures(of: "demo").used
        #expect(used == .none)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(Self.credits(1, 0, 1), of: "demo") }
        #expect(Self.refusal(Self.key("a", "b"), "c1", &machine) == nil)
        let further = Self.shortage(Self.credits(0, 1, 1), of: Self.credits(1, 1, 2))
        #expect(Self.refusal(Self.key("c"), "c2", &machine) == further)
    }

    @Test func aGroupSharesASessionOnceAnotherOneIsRefused() {
        var machine = Self.machine(Self.credits(1, 9, 9))
        #expect(Self.refusal(Self.key("a", group: 1), "c1", &machine) == nil)
        let shortage = Self.shortage(Self.credits(1, 0, 0), of: Self.credits(1, 9, 9), isOptional: true)
        #expect(Self.refusal(Self.key("b", group: 2), "c2", &machine) == shortage)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.sessionsRefused(of: "demo") }
        #expect(Self.refusal(Self.key("b", group: 2), "c2", &machine) == nil)
        _ = machine.changeCredits(of: "demo") { credits, _ in credits.add(Self.credits(1, 0, 0), of: "demo") }
        #expect(Self.refusal(Self.key("c", group: 3), "c3", &machine) == nil)
        let sessions = machine.figures(of: "demo").sessions
        #expect(sessions == 2)
    }

    @Test func theLimitsOfTheConfigurationHoldBesideTheCredits() {
        var machine = Self.machine(Self.credits(9, 99, 99), sessions: 1)
        #expect(Self.refusal(Self.key("a", group: 1), "c1", &machine) == nil)
        #expect(Self.refusal(Self.key("b", group: 2), "c2", &machine) == nil)
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
