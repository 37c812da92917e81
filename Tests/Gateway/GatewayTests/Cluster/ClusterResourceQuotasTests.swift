import Replication
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ClusterResourceQuotasTests {
    private static let client = #"{"upstream":"demo","connect":false}"#
    private static let subscription = #"{"upstream":"demo","mode":"MERGE","items":["i"],"fields":["f"],"active":false}"#

    /// Creates as many resources as the limit allows through all members, and returns the paths of the created ones.
    private static func fill(_ fixture: ClusterFixture, _ path: String, _ body: String) async -> [String] {
        let requests = (0..<9).map { fixture.members[$0 % fixture.members.count].start("POST", path, body) }
        var paths: [String] = []
        for request in requests {
            let outcome = await request.outcome
            if outcome.status == 201 {
                paths.append("\(path)/\(outcome.json["id"]?.string ?? "")")
            } else {
                #expect(outcome.status == 429 && outcome.code == "over-quota")
            }
        }
        return paths
    }

    private static func used(_ member: ClusterMember, _ quota: String) -> Int? {
        member.node.state.withLock { $0.machine.ledger?.quotas.used(of: quota).count }
    }

    @Test(arguments: [
        ("/v1/clients", client, QuotaUnit.dedicatedClients),
        ("/v1/subscriptions", subscription, QuotaUnit.createdSubscriptions),
    ])
    func theResourcesOfAllMembersCountTogether(path: String, body: String, quota: String) async throws {
        try await ClusterFixture.run(3, maxResources: 4) { fixture in
            let paths = await Self.fill(fixture, path, body)
            #expect(paths.count == 4)
            #expect(await fixture.members[1].perform("DELETE", paths[0]).status == 204)
            await fixture.settle()
            #expect(Self.used(fixture.members[0], quota) == 3)
            #expect(await fixture.members[2].perform("POST", path, body).status == 201)
            #expect(await fixture.members[0].perform("POST", path, body).status == 429)
        }
    }

    @Test(arguments: [
        ("/v1/clients", client, QuotaUnit.dedicatedClients),
        ("/v1/subscriptions", subscription, QuotaUnit.createdSubscriptions),
    ])
    func resourcesOfARemovedMemberContinueToCount(path: String, body: String, quota: String) async throws {
        try await ClusterFixture.run(maxResources: 2) { fixture in
            let (first, second) = (fixture.members[0], fixture.members[1])
            let id = await first.perform("POST", path, body).json["id"]?.string ?? ""
            #expect(await first.perform("POST", path, body).status == 201)
            try await ConfirmationTests.replace(first, by: second, fixture.engine)
            await fixture.settle()
            #expect(Self.used(second, quota) == 2)
            #expect(await first.perform("POST", path, body).status == 429)
            #expect(await first.perform("DELETE", "\(path)/\(id)").status == 204)
            await fixture.settle()
            #expect(Self.used(second, quota) == 1)
            #expect(first.node.reports.withLock { $0.claims.count } == 0)
        }
    }
}
