import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterRatesTests {
    private static let upstreams = "/v1/upstreams"

    /// Alice may send two requests a second, two of them at once.
    private static let ofAlice: AccessConfiguration = {
        var access = AccessFixture.keys()
        access.keys[1].rights.rate = 2
        return access
    }()

    /// An address may send four requests a second, four of them at once.
    private static let ofAddress: AccessConfiguration = {
        var access = AccessFixture.keys()
        access.limits.rate = 4
        access.limits.burst = 4
        access.limits.countsLoopback = true
        return access
    }()

    private static func statuses(_ member: ClusterMember, _ count: Int, as key: String) async -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append(await member.perform("GET", upstreams, as: key).status) }
        return statuses
    }

    @Test func theRequestsOfACallerThroughAllMembersCountTogether() async throws {
        try await ClusterFixture.run(access: Self.ofAlice, suspect: .seconds(1_000_000)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            await fixture.exchangeHeartbeats()
            #expect(await Self.statuses(first, 3, as: AccessFixture.alice) == [200, 200, 429])
            await fixture.exchangeHeartbeats()
            // The other member knows of the two requests, and of no time since then.
            #expect(await Self.statuses(second, 1, as: AccessFixture.alice) == [429])
            #expect(await Self.statuses(second, 1, as: AccessFixture.bob) == [200])
            // A heartbeat counts once.
            for _ in 0..<5 { fixture.engine.repeatHeartbeats() }
            await fixture.exchangeHeartbeats()
            #expect(await Self.statuses(second, 1, as: AccessFixture.alice) == [200])
        }
    }

    @Test func theRequestsOfAnAddressThroughAllMembersCountTogether() async throws {
        try await ClusterFixture.run(access: Self.ofAddress, suspect: .seconds(1_000_000)) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            await fixture.exchangeHeartbeats()
            #expect(await Self.statuses(first, 5, as: "lsg_unknown") == [401, 401, 401, 401, 429])
            await fixture.exchangeHeartbeats()
            #expect(await Self.statuses(second, 1, as: "lsg_unknown") == [429])
        }
    }
}
