import MicroHTTPD
import Replication
import Synchronization
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct ConfirmationTests {
    /// Removes a member from the cluster; it joins again under another number.
    static func replace(_ member: ClusterMember, by other: ClusterMember, _ engine: MemoryEngine) async throws {
        let number = try #require(member.number)
        other.node.write(.remove(number))
        await member.join(engine, after: number)
    }

    @Test func aChangeIsNotConfirmedIfTheMemberWasReplacedMeanwhile() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let respond = Mutex<PendingResponse.Send?>(nil)
            let operation = Operation(.delete, "/v1/subscriptions/{id}", "x", .open, [204], on: .owner) { call in
                respond.withLock { $0 = call.respond }
                return .deferred
            }
            let (responses, source) = AsyncStream.makeStream(of: Int.self)
            let call = Call(
                record: CallRecord(.init(method: "DELETE", rawPath: "/"), requestID: "r", since: .zero),
                respond: { source.yield($0.status) }
            )
            let resources = ClusterResources(cluster: member.node, services: member.services)
            _ = try resources.perform(call, operation, nil)
            try await Self.replace(member, by: other, fixture.engine)
            respond.withLock { $0 }?(Response(status: 204))
            #expect(await responses.first { _ in true } == 503)
        }
    }

    @Test func aRequestIsNotPerformedAfterTheMemberThatTheLogChoseWasReplaced() async throws {
        try await ClusterFixture.run { fixture in
            let (member, other) = (fixture.members[0], fixture.members[1])
            let generation = member.node.generation
            try await Self.replace(member, by: other, fixture.engine)
            #expect(member.node.generation != generation)
            let operation = Operation(.post, "/v1/subscriptions", "x", .open, [201], on: .carrier) { _ in
                Issue.record("performed")
                return .deferred
            }
            let call = Call(
                record: CallRecord(.init(method: "POST", rawPath: "/"), requestID: "r", since: .zero),
                respond: { _ in }
            )
            let begun = BegunRequest(name: RecordKey(high: 0, low: 0), generation: try #require(generation))
            let resources = ClusterResources(cluster: member.node, services: member.services)
            #expect(throws: Problem.self) { try resources.perform(call, operation, begun) }
        }
    }
}
