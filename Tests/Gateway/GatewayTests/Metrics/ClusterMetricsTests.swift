import Changes
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import Replication

@Suite(.timeLimit(.minutes(2))) struct ClusterMetricsTests {
    private static func report(of member: ClusterMember) -> String {
        let report = MetricsReport(
            requests: RequestMetrics(),
            pool: member.services.pool,
            hub: member.node.hub,
            streams: member.services.streams,
            daemon: { DaemonFigures() },
            coordination: member.node
        )
        return report.text
    }

    private static func line(_ sample: String) -> String { MetricNames.prefix + sample + "\n" }

    @Test func reportOfAMemberHasEachMetricOfTheCluster() async throws {
        try await ClusterFixture.run { fixture in
            _ = await fixture.members[0].makeSubscription()
            await fixture.settle()
            let node = fixture.members[0].node
            node.credit("demo", UpstreamCredits(sessions: 1, subscriptions: 20, items: 300))
            let text = Self.report(of: fixture.members[0])
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            for metric in MetricNames.cluster {
                let name = metric.name + (metric.kind == .histogram ? "_count" : "")
                let samples = lines.filter { $0.prefix { $0 != "{" && $0 != " " } == name }
                #expect(!samples.isEmpty, "\(metric.name)")
            }
            for sample in [
                "cluster_members 2", #"cluster_epochs_total{cause="started"} 1"#,
                #"cluster_credits{upstream="demo",kind="sessions"} 1"#,
                #"cluster_credits{upstream="demo",kind="subscriptions"} 20"#,
                #"cluster_credits{upstream="demo",kind="items"} 300"#,
                #"cluster_credits{upstream="secret",kind="items"} 0"#,
            ] {
                #expect(text.contains(Self.line(sample)), "\(sample)")
            }
            let counters = node.clusterFigures.member.counters
            #expect(counters.appendSeconds.count > 0)
            #expect(text.contains(Self.line("cluster_append_seconds_count \(counters.appendSeconds.count)")))
            #expect(text.contains(Self.line("cluster_frame_events_count \(counters.frameEvents.count)")))
        }
    }

    // MARK: - Calls

    @Test func callsAreCountedByTheirOutcomes() async throws {
        try await ClusterFixture.run { fixture in
            let (owner, other) = (fixture.members[0], fixture.members[1])
            let path = "/v1/subscriptions/\(await owner.makeSubscription())"
            #expect(await other.perform("GET", path).status == 200)
            await #expect(throws: EngineError.noResponder) { try await other.node.call(1, [], within: .seconds(1)) }
            let text = Self.report(of: other)
            #expect(text.contains(Self.line(#"cluster_calls_total{outcome="answered"} 1"#)))
            #expect(text.contains(Self.line(#"cluster_calls_total{outcome="unreachable"} 1"#)))
            #expect(owner.node.clusterFigures.counters.calls.isEmpty)
        }
    }

    @Test func errorsOfCallsHaveOutcomes() {
        typealias Outcome = ClusterCounters.CallOutcome
        for (error, outcome) in [
            (EngineError.timeout, Outcome.timedOut), (.noResponder, .unreachable), (.removed, .unreachable),
            (.refused(""), .failed),
            (.notConnected(""), .failed),
        ] {
            #expect(Outcome(error, isAbandoned: false) == outcome)
            #expect(Outcome(error, isAbandoned: true) == .abandoned)
        }
    }

    // MARK: - Adoptions

    /// The events of clients that were adopted, as the pool reports them.
    @Test func adoptionsAreCountedByTheirOutcomes() async throws {
        try await ClusterFixture.run(1) { fixture in
            let node = fixture.members[0].node
            let statuses: [(String, [ClientStatus])] = [
                ("resumed", [.disconnectedTryingRecovery, .connectedWSStreaming, .disconnectedTryingRecovery]),
                ("also-resumed", [.disconnectedTryingRecovery, .connectedHTTPPolling, .disconnectedWillRetry]),
                ("refused", [.disconnectedTryingRecovery, .disconnectedWillRetry, .connecting, .connectedWSStreaming]),
                ("refused-forever", [.disconnectedTryingRecovery, .disconnected, .connecting]),
                ("abandoned", [.disconnectedTryingRecovery, .disconnected]),
            ]
            for (client, statuses) in statuses {
                node.shared.withLock { $0.counters.adopting(client) }
                for status in statuses { node.take(.client(ClientID(client), .event(.status(status)))) }
                node.take(.client(ClientID(client), .removed))
            }
            node.take(.client(ClientID("own"), .event(.status(.connectedWSStreaming))))
            #expect(node.clusterFigures.counters.adoptions == [.resumed: 2, .refused: 2, .abandoned: 1])
        }
    }

    @Test func adoptionWithoutAReadableSessionHasFailed() async throws {
        try await ClusterFixture.run(1) { fixture in
            let node = fixture.members[0].node
            let session = OfferedUpstreamSession(content: [1, 2, 3], processed: 0)
            var carried = CarriedSubscriptions(of: node)
            carried.adopt(InheritedSession(client: "c", session: session, topics: []))
            let text = Self.report(of: fixture.members[0])
            #expect(text.contains(Self.line(#"cluster_adoptions_total{outcome="failed"} 1"#)))
            #expect(text.contains(Self.line(#"cluster_adoptions_total{outcome="resumed"} 0"#)))
        }
    }
}
