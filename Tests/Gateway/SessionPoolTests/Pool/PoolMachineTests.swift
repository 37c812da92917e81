internal import Changes
internal import SessionCore
internal import Testing

@testable import SessionPool

@Suite struct PoolMachineTests {
    private let first = ClientID("c1")
    private let second = ClientID("c2")

    private static func at(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    private func passed(_ seconds: Int, _ machine: inout PoolMachine) -> [PoolAction] {
        machine.timePassed(at: Self.at(seconds))
    }

    @Test func firstUserOpensASessionAndASubscription() throws {
        var machine = PoolMachine(configuration: .demo())
        #expect(try machine.acquired(.demo(), freshClient: first).client == first)
        let figures = machine.figures(of: "demo")
        #expect(figures == UpstreamCredits(sessions: 1, subscriptions: 1, items: 1) && machine.users == 1)
    }

    @Test func releaseWithoutUsersHasNoEffect() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        for time in 0..<3 { machine.released(id, at: Self.at(time)) }
        _ = try machine.acquired(.demo(), freshClient: second)
        #expect(machine.users == 1)
        machine.released(id, at: Self.at(3))
        #expect(passed(8, &machine) == [.closeShared(id)])
    }

    @Test func messageOpensASessionThatIsKeptForATime() throws {
        var machine = PoolMachine(configuration: .demo())
        let session = SharedKey.demo().session
        #expect(try machine.messenger(session, freshClient: first, until: Self.at(40)) == first)
        #expect(try machine.messenger(session, freshClient: second, until: Self.at(50)) == first)
        #expect(passed(49, &machine) == [])
        #expect(passed(50, &machine) == [.closeClient(first)])
        #expect(machine.figures(of: "demo").sessions == 0)
    }

    @Test func messageKeepsTheSessionOfSubscriptionsThatAreClosed() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        #expect(try machine.messenger(SharedKey.demo().session, freshClient: second, until: Self.at(60)) == first)
        machine.released(id, at: Self.at(1))
        #expect(passed(6, &machine) == [.closeShared(id)])
        #expect(passed(59, &machine) == [])
        #expect(passed(60, &machine) == [.closeClient(first)])
    }

    @Test func messageUsesTheSessionOfSubscriptions() throws {
        var machine = PoolMachine(configuration: .demo())
        _ = try machine.acquired(.demo(), freshClient: first)
        #expect(try machine.messenger(SharedKey.demo().session, freshClient: second, until: Self.at(40)) == first)
        #expect(passed(50, &machine) == [])
    }

    @Test func secondUserOfEqualPropertiesOpensNothing() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        let (again, client) = try machine.acquired(.demo(), freshClient: second)
        #expect(again == id && client == first)
        #expect(machine.users == 2)
    }

    @Test func groupsHaveSessionsOfTheirOwnWhileTheQuotaAdmitsThem() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxSessions = 2 })
        for (number, client) in [(UInt64(1), first), (2, second)] {
            #expect(try machine.acquired(.demo("i", group: number), freshClient: client).client == client)
        }
        #expect(try machine.acquired(.demo("i", group: 3), freshClient: ClientID("c3")).client == first)
    }

    @Test func adoptedSessionIsUsedAndClosedLikeAnyOther() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxSessions = 1 })
        let keys = [SharedKey.demo("a", group: 1), SharedKey.demo("b", group: 1)]
        let adopted = machine.adopted(first, keys[0].session, keys)
        let ids = try #require(adopted)
        let figures = machine.figures(of: "demo")
        #expect(figures == UpstreamCredits(sessions: 1, subscriptions: 2, items: 2) && machine.users == 2)
        #expect(machine.adopted(second, keys[0].session, [keys[1]]) == nil)
        let (again, client) = try machine.acquired(keys[0], freshClient: second)
        #expect(again == ids[0] && client == first)
        for id in [ids[0], ids[0], ids[1]] { machine.released(id, at: .zero) }
        #expect(passed(5, &machine) == ids.map { .closeShared($0) })
        #expect(passed(35, &machine) == [.closeClient(first)])
    }

    @Test func otherPropertiesShareTheSession() throws {
        var machine = PoolMachine(configuration: .demo())
        _ = try machine.acquired(.demo(), freshClient: first)
        #expect(try machine.acquired(.demo("item2"), freshClient: second).client == first)
    }

    @Test func otherCredentialsGetASessionOfTheirOwn() throws {
        var machine = PoolMachine(configuration: .demo())
        _ = try machine.acquired(.demo(), freshClient: first)
        #expect(try machine.acquired(.demo(user: "mia"), freshClient: second).client == second)
    }

    @Test func canonicallyEquivalentNamesAreNotShared() throws {
        var machine = PoolMachine(configuration: .demo())
        let composed = SharedKey.demo("\u{E9}X", user: "\u{E9}")
        let (id, _) = try machine.acquired(composed, freshClient: first)
        let (other, _) = try machine.acquired(.demo("e\u{301}X", user: "\u{E9}"), freshClient: second)
        #expect(other != id)
        let equivalentUser = SharedKey.demo("\u{E9}X", user: "e\u{301}")
        #expect(try machine.acquired(equivalentUser, freshClient: second).client == second)
        let group = SubscriptionProperties(mode: .merge, items: .group("\u{E9}"), fields: .group("f"))
        var equivalent = group
        equivalent.items = .group("e\u{301}")
        #expect(group != equivalent)
        var adapter = group
        (adapter.dataAdapter, equivalent) = ("\u{E9}", group)
        equivalent.dataAdapter = "e\u{301}"
        #expect(adapter != equivalent)
        #expect(Set([group, adapter, equivalent]).count == 3)
    }

    @Test func lastLeaverClosesAfterTheLinger() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        _ = try machine.acquired(.demo(), freshClient: second)
        machine.released(id, at: Self.at(0))
        #expect(passed(100, &machine).isEmpty)
        machine.released(id, at: Self.at(100))
        #expect(passed(104, &machine).isEmpty)
        #expect(passed(105, &machine) == [.closeShared(id)])
        #expect(passed(134, &machine).isEmpty)
        #expect(passed(135, &machine) == [.closeClient(first)])
        let figures = machine.figures(of: "demo")
        #expect(figures == .none && machine.users == 0)
    }

    @Test func readerWithinTheLingerKeepsTheSubscription() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        machine.released(id, at: Self.at(0))
        let (again, client) = try machine.acquired(.demo(), freshClient: second)
        #expect(again == id && client == first)
        #expect(machine.timePassed(at: Self.at(1_000)).isEmpty)
    }

    @Test func unusedSubscriptionIsClosedWithoutALinger() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        let isClosedWhileUsed = machine.closedIfUnused(id, at: Self.at(0))
        machine.released(id, at: Self.at(0))
        let isClosed = machine.closedIfUnused(id, at: Self.at(0))
        #expect(!isClosedWhileUsed && isClosed)
        #expect(machine.figures(of: "demo").subscriptions == 0)
        #expect(passed(30, &machine) == [.closeClient(first)])
    }

    @Test func readerInTimeEndsTheLinger() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        machine.released(id, at: Self.at(0))
        let isInTime = machine.reclaimed(id)
        #expect(isInTime)
        #expect(passed(100, &machine).isEmpty)
        machine.released(id, at: Self.at(100))
        #expect(passed(105, &machine) == [.closeShared(id)])
        let isLate = machine.reclaimed(id)
        #expect(!isLate)
    }

    @Test func figuresFollowWhatIsOpen() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo("a", "b"), freshClient: first)
        _ = try machine.acquired(.demo("a", "b"), freshClient: first)
        _ = try machine.acquired(.demo("c"), freshClient: first)
        machine.released(id, at: Self.at(0))
        let open = machine.figures(of: "demo")
        #expect(open == UpstreamCredits(sessions: 1, subscriptions: 2, items: 3) && machine.users == 2)
        _ = machine.rekeyed(id, to: SharedKey.demo("d").properties)
        let rekeyed = machine.figures(of: "demo")
        #expect(rekeyed == UpstreamCredits(sessions: 1, subscriptions: 2, items: 2) && machine.users == 2)
        machine.clientRemoved(first)
        let closed = machine.figures(of: "demo")
        #expect(closed == .none)
    }

    @Test func refusedSubscriptionIsOpenedAnewForTheNextUser() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        machine.sharedEnded(id, at: Self.at(0))
        let (again, client) = try machine.acquired(.demo(), freshClient: second)
        #expect(again != id && client == first)
    }

    @Test func fullSessionMakesAFurtherOneOpenUpToTheQuota() throws {
        var machine = PoolMachine(
            configuration: .demo {
                $0.maxSessions = 2
                $0.maxSubscriptionsPerSession = 1
            }
        )
        _ = try machine.acquired(.demo("a"), freshClient: first)
        #expect(try machine.acquired(.demo("b"), freshClient: second).client == second)
        #expect(machine.refusal(of: .demo("c"), on: "c3") == .overQuota(.sessions(upstream: "demo", limit: 2)))
    }

    @Test func itemAndSubscriptionQuotasAreNamed() throws {
        var machine = PoolMachine(
            configuration: .demo {
                $0.maxItems = 2
                $0.maxSubscriptions = 2
            }
        )
        #expect(machine.refusal(of: .demo("a", "b", "c"), on: "c1") == .overQuota(.items(upstream: "demo", limit: 2)))
        _ = try machine.acquired(.demo("a"), freshClient: first)
        _ = try machine.acquired(.demo("b"), freshClient: first)
        #expect(machine.refusal(of: .demo("c"), on: "c1") == .overQuota(.subscriptions(upstream: "demo", limit: 2)))
    }

    @Test func unknownUpstreamIsRefused() {
        var machine = PoolMachine(configuration: .demo())
        let session = SessionKey(upstream: "other", user: nil, password: nil)
        let key = SharedKey(session: session, properties: SharedKey.demo().properties)
        #expect(machine.refusal(of: key, on: "c1") == .unknownUpstream("other"))
    }

    @Test func onlyASoleUserMayTakeTheSubscriptionToOtherProperties() throws {
        var machine = PoolMachine(configuration: .demo())
        let (id, _) = try machine.acquired(.demo(), freshClient: first)
        let isTaken = machine.rekeyed(id, to: SharedKey.demo("item2").properties)
        #expect(isTaken)
        let (again, _) = try machine.acquired(.demo("item2"), freshClient: second)
        #expect(again == id)
        let isTakenAgain = machine.rekeyed(id, to: SharedKey.demo("item3").properties)
        #expect(!isTakenAgain)
    }

    @Test func closedSessionTakesItsSubscriptionsWithIt() throws {
        var machine = PoolMachine(configuration: .demo())
        _ = try machine.acquired(.demo(), freshClient: first)
        machine.clientRemoved(first)
        #expect(try machine.acquired(.demo(), freshClient: second).client == second)
    }
}
