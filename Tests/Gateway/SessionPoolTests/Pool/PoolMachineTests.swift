internal import Changes
internal import SessionCore
internal import Testing

@testable import SessionPool

@Suite struct PoolMachineTests {
    private let first = ClientID("c1")
    private let second = ClientID("c2")

    private static func configuration(_ change: (inout UpstreamConfiguration) -> Void = { _ in }) -> PoolConfiguration {
        var upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")
        change(&upstream)
        var configuration = PoolConfiguration(upstreams: [upstream])
        configuration.subscriptionLinger = .seconds(5)
        configuration.sessionLinger = .seconds(30)
        return configuration
    }

    private static func key(_ items: [String] = ["item1"], user: String? = nil, upstream: String = "demo") -> SharedKey
    {
        SharedKey(
            session: SessionKey(upstream: upstream, user: user, password: nil),
            properties: SubscriptionProperties(mode: .merge, items: .list(items), fields: .list(["last_price"]))
        )
    }

    private static func at(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    private func passed(_ seconds: Int, _ machine: inout PoolMachine) -> [PoolAction] {
        machine.timePassed(at: Self.at(seconds))
    }

    private func refusal(_ key: SharedKey, _ client: ClientID, _ machine: inout PoolMachine) -> PoolError? {
        do {
            _ = try machine.acquired(key, freshClient: client)
            return nil
        } catch {
            return error
        }
    }

    @Test func firstUserOpensASessionAndASubscription() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        #expect(try machine.acquired(Self.key(), freshClient: first).client == first)
        let figures = machine.figures(of: "demo")
        #expect([figures.sessions, figures.subscriptions, figures.items, figures.users] == [1, 1, 1, 1])
    }

    @Test func releaseWithoutUsersHasNoEffect() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        for time in 0..<3 { machine.released(id, at: Self.at(time)) }
        _ = try machine.acquired(Self.key(), freshClient: second)
        let figures = machine.figures(of: "demo")
        #expect(figures.users == 1)
        machine.released(id, at: Self.at(3))
        #expect(passed(8, &machine) == [.closeShared(id)])
    }

    @Test func messageOpensASessionThatIsKeptForATime() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let session = Self.key().session
        #expect(try machine.messenger(session, freshClient: first, until: Self.at(40)) == first)
        #expect(try machine.messenger(session, freshClient: second, until: Self.at(50)) == first)
        #expect(passed(49, &machine) == [])
        #expect(passed(50, &machine) == [.closeClient(first)])
        #expect(machine.figures(of: "demo").sessions == 0)
    }

    @Test func messageKeepsTheSessionOfSubscriptionsThatAreClosed() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        #expect(try machine.messenger(Self.key().session, freshClient: second, until: Self.at(60)) == first)
        machine.released(id, at: Self.at(1))
        #expect(passed(6, &machine) == [.closeShared(id)])
        #expect(passed(59, &machine) == [])
        #expect(passed(60, &machine) == [.closeClient(first)])
    }

    @Test func messageUsesTheSessionOfSubscriptions() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        _ = try machine.acquired(Self.key(), freshClient: first)
        #expect(try machine.messenger(Self.key().session, freshClient: second, until: Self.at(40)) == first)
        #expect(passed(50, &machine) == [])
    }

    @Test func secondUserOfEqualPropertiesOpensNothing() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        let (again, client) = try machine.acquired(Self.key(), freshClient: second)
        #expect(again == id && client == first)
        let users = machine.figures(of: "demo").users
        #expect(users == 2)
    }

    private static func key(_ items: [String], group: UInt64) -> SharedKey {
        SharedKey(
            session: SessionKey(upstream: "demo", user: nil, password: nil, group: group),
            properties: key(items).properties
        )
    }

    @Test func groupsHaveSessionsOfTheirOwnWhileTheQuotaAdmitsThem() throws {
        var machine = PoolMachine(configuration: Self.configuration { $0.maxSessions = 2 })
        for (number, client) in [(UInt64(1), first), (2, second)] {
            #expect(try machine.acquired(Self.key(["i"], group: number), freshClient: client).client == client)
        }
        #expect(try machine.acquired(Self.key(["i"], group: 3), freshClient: ClientID("c3")).client == first)
    }

    @Test func adoptedSessionIsUsedAndClosedLikeAnyOther() throws {
        var machine = PoolMachine(configuration: Self.configuration { $0.maxSessions = 1 })
        let keys = [Self.key(["a"], group: 1), Self.key(["b"], group: 1)]
        let adopted = machine.adopted(first, keys[0].session, keys)
        let ids = try #require(adopted)
        #expect(machine.figures(of: "demo") == PoolFigures(sessions: 1, subscriptions: 2, items: 2, users: 2))
        #expect(machine.adopted(second, keys[0].session, [keys[1]]) == nil)
        let (again, client) = try machine.acquired(keys[0], freshClient: second)
        #expect(again == ids[0] && client == first)
        for id in [ids[0], ids[0], ids[1]] { machine.released(id, at: .zero) }
        #expect(passed(5, &machine) == ids.map { .closeShared($0) })
        #expect(passed(35, &machine) == [.closeClient(first)])
    }

    @Test func otherPropertiesShareTheSession() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        _ = try machine.acquired(Self.key(), freshClient: first)
        #expect(try machine.acquired(Self.key(["item2"]), freshClient: second).client == first)
    }

    @Test func otherCredentialsGetASessionOfTheirOwn() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        _ = try machine.acquired(Self.key(), freshClient: first)
        #expect(try machine.acquired(Self.key(user: "mia"), freshClient: second).client == second)
    }

    @Test func canonicallyEquivalentNamesAreNotShared() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let composed = Self.key(["\u{E9}X"], user: "\u{E9}")
        let (id, _) = try machine.acquired(composed, freshClient: first)
        let (other, _) = try machine.acquired(Self.key(["e\u{301}X"], user: "\u{E9}"), freshClient: second)
        #expect(other != id)
        let equivalentUser = Self.key(["\u{E9}X"], user: "e\u{301}")
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
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        _ = try machine.acquired(Self.key(), freshClient: second)
        machine.released(id, at: Self.at(0))
        #expect(passed(100, &machine).isEmpty)
        machine.released(id, at: Self.at(100))
        #expect(passed(104, &machine).isEmpty)
        #expect(passed(105, &machine) == [.closeShared(id)])
        #expect(passed(134, &machine).isEmpty)
        #expect(passed(135, &machine) == [.closeClient(first)])
        let figures = machine.figures(of: "demo")
        #expect([figures.sessions, figures.subscriptions, figures.items, figures.users] == [0, 0, 0, 0])
    }

    @Test func readerWithinTheLingerKeepsTheSubscription() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        machine.released(id, at: Self.at(0))
        let (again, client) = try machine.acquired(Self.key(), freshClient: second)
        #expect(again == id && client == first)
        #expect(machine.timePassed(at: Self.at(1_000)).isEmpty)
    }

    @Test func unusedSubscriptionIsClosedWithoutALinger() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        let isClosedWhileUsed = machine.closedIfUnused(id, at: Self.at(0))
        machine.released(id, at: Self.at(0))
        let isClosed = machine.closedIfUnused(id, at: Self.at(0))
        #expect(!isClosedWhileUsed && isClosed)
        #expect(machine.figures(of: "demo").subscriptions == 0)
        #expect(passed(30, &machine) == [.closeClient(first)])
    }

    @Test func readerInTimeEndsTheLinger() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
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
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(["a", "b"]), freshClient: first)
        _ = try machine.acquired(Self.key(["a", "b"]), freshClient: first)
        _ = try machine.acquired(Self.key(["c"]), freshClient: first)
        machine.released(id, at: Self.at(0))
        let open = machine.figures(of: "demo")
        #expect(open == PoolFigures(sessions: 1, subscriptions: 2, items: 3, users: 2))
        _ = machine.rekeyed(id, to: Self.key(["d"]).properties)
        let rekeyed = machine.figures(of: "demo")
        #expect(rekeyed == PoolFigures(sessions: 1, subscriptions: 2, items: 2, users: 2))
        machine.clientRemoved(first)
        let closed = machine.figures(of: "demo")
        #expect(closed == PoolFigures())
    }

    @Test func refusedSubscriptionIsOpenedAnewForTheNextUser() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        machine.sharedEnded(id, at: Self.at(0))
        let (again, client) = try machine.acquired(Self.key(), freshClient: second)
        #expect(again != id && client == first)
    }

    @Test func fullSessionMakesAFurtherOneOpenUpToTheQuota() throws {
        var machine = PoolMachine(
            configuration: Self.configuration {
                $0.maxSessions = 2
                $0.maxSubscriptionsPerSession = 1
            }
        )
        _ = try machine.acquired(Self.key(["a"]), freshClient: first)
        #expect(try machine.acquired(Self.key(["b"]), freshClient: second).client == second)
        #expect(
            refusal(Self.key(["c"]), ClientID("c3"), &machine)
                == PoolError.overQuota(.sessions(upstream: "demo", limit: 2))
        )
    }

    @Test func itemAndSubscriptionQuotasAreNamed() throws {
        var machine = PoolMachine(
            configuration: Self.configuration {
                $0.maxItems = 2
                $0.maxSubscriptions = 2
            }
        )
        #expect(
            refusal(Self.key(["a", "b", "c"]), first, &machine)
                == PoolError.overQuota(.items(upstream: "demo", limit: 2))
        )
        _ = try machine.acquired(Self.key(["a"]), freshClient: first)
        _ = try machine.acquired(Self.key(["b"]), freshClient: first)
        #expect(
            refusal(Self.key(["c"]), first, &machine) == PoolError.overQuota(.subscriptions(upstream: "demo", limit: 2))
        )
    }

    @Test func unknownUpstreamIsRefused() {
        var machine = PoolMachine(configuration: Self.configuration())
        #expect(refusal(Self.key(upstream: "other"), first, &machine) == PoolError.unknownUpstream("other"))
    }

    @Test func onlyASoleUserMayTakeTheSubscriptionToOtherProperties() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        let (id, _) = try machine.acquired(Self.key(), freshClient: first)
        let isTaken = machine.rekeyed(id, to: Self.key(["item2"]).properties)
        #expect(isTaken)
        let (again, _) = try machine.acquired(Self.key(["item2"]), freshClient: second)
        #expect(again == id)
        let isTakenAgain = machine.rekeyed(id, to: Self.key(["item3"]).properties)
        #expect(!isTakenAgain)
    }

    @Test func closedSessionTakesItsSubscriptionsWithIt() throws {
        var machine = PoolMachine(configuration: Self.configuration())
        _ = try machine.acquired(Self.key(), freshClient: first)
        machine.clientRemoved(first)
        #expect(try machine.acquired(Self.key(), freshClient: second).client == second)
    }
}
