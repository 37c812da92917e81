internal import Changes
internal import SessionCore
internal import SessionPool
internal import Testing

/// What lingers makes room for what is used.
@Suite struct PoolRoomTests {
    private let client = ClientID("c1")

    /// Opens a subscription with one user.
    private func open(_ key: SharedKey, _ machine: inout PoolMachine) throws -> SharedID {
        try machine.acquired(key, freshClient: client).0
    }

    @Test func theSubscriptionThatLingersLongestIsClosedWhenTheUpstreamIsFull() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxSubscriptions = 3 })
        let (first, second) = (try open(.demo("a"), &machine), try open(.demo("b"), &machine))
        _ = try open(.demo("c"), &machine)
        machine.released(second, at: .zero + .seconds(1))
        machine.released(first, at: .zero + .seconds(2))
        let room = machine.makeRoom(for: .demo("d"))
        #expect(room == [second])
        _ = try open(.demo("d"), &machine)
        let count = machine.figures(of: "demo").subscriptions
        #expect(count == 3)
    }

    @Test func itemsAndSessionsAreMadeRoomForAsWell() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxItems = 4 })
        let ids = [try open(.demo("a", "b"), &machine), try open(.demo("c"), &machine)]
        for (second, id) in ids.enumerated() { machine.released(id, at: .zero + .seconds(second)) }
        let room = machine.makeRoom(for: .demo("d", "e", "f"))
        #expect(room == [ids[0]])
        var sessions = PoolMachine(configuration: .demo { ($0.maxSessions, $0.maxSubscriptionsPerSession) = (1, 1) })
        let id = try open(.demo("a"), &sessions)
        let none = sessions.makeRoom(for: .demo("b"))
        #expect(none == [])
        sessions.released(id, at: .zero)
        let one = sessions.makeRoom(for: .demo("b"))
        #expect(one == [id])
        _ = try open(.demo("b"), &sessions)
    }

    @Test func nothingIsClosedWithoutNeedOrWithoutUse() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxItems = 2 })
        let id = try open(.demo("a"), &machine)
        machine.released(id, at: .zero)
        for key in [SharedKey.demo("b"), .demo("b", "c", "d"), .demo("a")] {
            let room = machine.makeRoom(for: key)
            #expect(room == [])
        }
        let reclaimed = machine.reclaimed(id)
        #expect(reclaimed)
    }
}
