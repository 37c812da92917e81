internal import Changes
internal import SessionCore
internal import SessionPool
internal import Testing

/// What lingers makes room for what is used.
@Suite struct PoolRoomTests {
    private let client = ClientID("c1")

    private static func machine(_ change: (inout UpstreamConfiguration) -> Void) -> PoolMachine {
        var upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")
        change(&upstream)
        return PoolMachine(configuration: PoolConfiguration(upstreams: [upstream]))
    }

    private static func key(_ items: String..., user: String? = nil) -> SharedKey {
        SharedKey(
            session: SessionKey(upstream: "demo", user: user, password: nil),
            properties: SubscriptionProperties(mode: .merge, items: .list(items), fields: .list(["last_price"]))
        )
    }

    /// Opens a subscription with one user.
    private func open(_ key: SharedKey, _ machine: inout PoolMachine) throws -> SharedID {
        try machine.acquired(key, freshClient: client).0
    }

    @Test func theSubscriptionThatLingersLongestIsClosedWhenTheUpstreamIsFull() throws {
        var machine = Self.machine { $0.maxSubscriptions = 3 }
        let (first, second) = (try open(Self.key("a"), &machine), try open(Self.key("b"), &machine))
        _ = try open(Self.key("c"), &machine)
        machine.released(second, at: .zero + .seconds(1))
        machine.released(first, at: .zero + .seconds(2))
        let room = machine.makeRoom(for: Self.key("d"))
        #expect(room == [second])
        _ = try open(Self.key("d"), &machine)
        let count = machine.figures(of: "demo").subscriptions
        #expect(count == 3)
    }

    @Test func itemsAndSessionsAreMadeRoomForAsWell() throws {
        var machine = Self.machine { $0.maxItems = 4 }
        let ids = [try open(Self.key("a", "b"), &machine), try open(Self.key("c"), &machine)]
        for (second, id) in ids.enumerated() { machine.released(id, at: .zero + .seconds(second)) }
        let room = machine.makeRoom(for: Self.key("d", "e", "f"))
        #expect(room == [ids[0]])
        var sessions = Self.machine {
            $0.maxSessions = 1
            $0.maxSubscriptionsPerSession = 1
        }
        let id = try open(Self.key("a"), &sessions)
        let none = sessions.makeRoom(for: Self.key("b"))
        #expect(none == [])
        sessions.released(id, at: .zero)
        let one = sessions.makeRoom(for: Self.key("b"))
        #expect(one == [id])
        _ = try open(Self.key("b"), &sessions)
    }

    @Test func nothingIsClosedWithoutNeedOrWithoutUse() throws {
        var machine = Self.machine { $0.maxItems = 2 }
        let id = try open(Self.key("a"), &machine)
        machine.released(id, at: .zero)
        for key in [Self.key("b"), Self.key("b", "c", "d"), Self.key("a")] {
            let room = machine.makeRoom(for: key)
            #expect(room == [])
        }
        let reclaimed = machine.reclaimed(id)
        #expect(reclaimed)
    }
}
