import Changes
import EventHub
import SessionCore
import StreamIO
import TestSupport
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite(.timeLimit(.minutes(2))) struct JoiningMemberTests {
    private let source = StreamSource.client("c", withSubscriptions: false)

    private func report(_ status: ClientStatus, _ member: ClusterMember) {
        member.node.take(.client("c", .event(.status(status))))
    }

    private func lastID(_ member: ClusterMember) -> String { member.node.hub.lastID.text }

    /// The outcome of a stream that resumes on a member.
    private func outcome(after id: String, _ member: ClusterMember) throws -> ResumeOutcome? {
        let hub = member.node.hub
        var request = StreamRequest(sources: [source])
        request.lastEventID = id
        let stream = try hub.admit(request)
        let opening = StreamOpening(
            stream: stream,
            id: StreamID(slot: 0, generation: 0),
            framing: .bare,
            now: .zero
        )
        let shard = hub.makeShard(seed: 0) {}
        return withExtendedLifetime(shard) {
            let content = shard.open(opening)
            defer { content.ended(.peerClosed) }
            return hub.outcome(of: stream)
        }
    }

    @Test func streamsResumeOnAMemberThatJoinsAfterTheirLastEvent() async throws {
        try await ClusterFixture.run(1) { cluster in
            let first = cluster.members[0]
            first.node.take(.client("c", .added(.disconnected)))
            await cluster.settle()
            var ids = [lastID(first)]
            for status in [ClientStatus.connecting, .connectedWSStreaming, .stalled] {
                report(status, first)
                await cluster.settle()
                ids.append(lastID(first))
            }
            try await cluster.withAnother { second in
                let before = "\(first.node.hub.lastID.epoch)-0"
                let outcomes = try (ids + [before]).map { try outcome(after: $0, second) }
                #expect(outcomes == [.resumed, .resumed, .resumed, .resumed, .gap])
            }
        }
    }

    /// The caller of a read may have newer values of another member.
    @Test func aReadWaitsUntilAMemberThatBeginsToJoinHasAppliedTheLog() async throws {
        try await ClusterFixture.run(1) { cluster in
            let first = cluster.members[0]
            first.node.take(.client("c", .added(.disconnected)))
            report(.connecting, first)
            await cluster.settle()
            let last = first.node.hub.lastID.sequence
            try await cluster.withAnother(hasJoined: false) { second in
                await second.node.catchUp()
                #expect(second.node.hub.lastID.sequence >= last)
            }
        }
    }

    /// The member that has joined reads no frames of the log: the state that it takes over is the present one.
    @Test func streamsOfSilentSourcesResumeOnAMemberThatJoinsMuchLater() async throws {
        try await ClusterFixture.run(1) { cluster in
            let first = cluster.members[0]
            first.node.take(.client("c", .added(.disconnected)))
            await cluster.settle()
            let before = lastID(first)
            report(.connecting, first)
            await cluster.settle()
            let last = lastID(first)
            first.node.take(.client("d", .added(.disconnected)))
            await cluster.settle()
            cluster.time.pass(60)
            await first.catchUp()
            try await cluster.withAnother { second in
                let outcomes = try [before, last, lastID(first)].map { try outcome(after: $0, second) }
                #expect(outcomes == [.gap, .resumed, .resumed])
            }
        }
    }
}
