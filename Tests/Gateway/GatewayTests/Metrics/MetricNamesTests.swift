import Changes
import EventHub
import Foundation
import LightstreamerClient
import Logging
import MicroHTTPD
import Replication
import SessionCore
import Testing

@testable import Gateway
@testable import GatewayCluster
@testable import SessionPool

@Suite struct MetricNamesTests {
    /// The families of a text: name and kind, and the labels of their lines.
    private struct Families {
        var kinds: [String: String] = [:]
        var labels: [String: Set<String>] = [:]

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ").map(String.init)
                if line.hasPrefix("# TYPE ") {
                    kinds[words[2]] = words[3]
                } else if !line.hasPrefix("#") {
                    let name = line.prefix { $0 != "{" && $0 != " " }
                    let names = line.split(separator: "=\"").dropLast().compactMap { part in
                        part.split { $0 == "{" || $0 == "," }.last.map(String.init)
                    }
                    labels[String(name), default: []].formUnion(names)
                }
            }
        }
    }

    private func exposition(_ fixture: AccessFixture) -> MetricsReport {
        MetricsReport(
            requests: fixture.requests,
            pool: fixture.services.pool,
            hub: EventHub(epoch: "e", clock: Moment.monotonic),
            streams: fixture.services.streams,
            daemon: { DaemonFigures() },
            coordination: fixture.services.coordination
        )
    }

    @Test func everyMetricIsInTheTableAndTheTableHasNoOthers() async throws {
        let fixture = try await AccessFixture()
        _ = fixture.makeClient(as: AccessFixture.admin)
        let families = Families(exposition(fixture).text)
        let alone = Set(MetricNames.all).subtracting(MetricNames.cluster)
        #expect(families.kinds == Dictionary(uniqueKeysWithValues: alone.map { ($0.name, $0.kind.rawValue) }))
        for metric in MetricNames.all {
            let suffix = metric.kind == .histogram ? "_bucket" : ""
            guard let labels = families.labels[metric.name + suffix] else { continue }
            #expect(labels == Set(metric.labels + (metric.kind == .histogram ? ["le"] : [])), "\(metric.name)")
        }
    }

    @Test func clusterFiguresAreInTheTable() async throws {
        let fixture = try await AccessFixture()
        let info = MemberInfo(name: "a:1", version: "1", upstreams: [])
        let machine = MemberMachine(info: info, seed: 1, groups: 1)
        let figures = machine.figures(at: .zero)
        var text = MetricsText()
        ClusterFigures(member: figures, outboxBytes: 7).write(to: &text)
        let families = Families(exposition(fixture).text + text.text)
        #expect(families.kinds == Dictionary(uniqueKeysWithValues: MetricNames.all.map { ($0.name, $0.kind.rawValue) }))
        #expect(families.labels[MetricNames.clusterFrames.name] == ["direction"])
        #expect(text.text.contains("\(MetricNames.clusterOutbox.name) 7\n"))
    }

    @Test func namesFollowTheConventions() {
        let names = MetricNames.all.map(\.name)
        #expect(Set(names).count == names.count)
        for metric in MetricNames.all {
            #expect(metric.name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil)
            #expect(metric.name.hasPrefix(MetricNames.prefix) || metric.name.hasPrefix("process_"))
            #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"), "\(metric.name)")
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n") && !metric.help.contains("|"))
            if metric.kind == .histogram { #expect(metric.name.contains(/_(seconds|events)$/)) }
        }
    }

    @Test func requestsAreCountedByOperationMethodAndStatus() async throws {
        let fixture = try await AccessFixture()
        _ = fixture.perform("GET", "/v1/clients", as: AccessFixture.admin)
        _ = fixture.perform("GET", "/v1/clients")
        _ = fixture.perform("GET", "/v1/clients/x\"y", as: AccessFixture.admin)
        _ = fixture.perform("BREW", "/nothing/secret-path", as: AccessFixture.admin)
        _ = fixture.host.refusal(for: .duplicateHost, from: PeerAddress(host: "", port: 0), headers: [])
        let text = exposition(fixture).text
        for line in [
            #"http_requests_total{route="listClients",method="GET",status="200"} 1"#,
            #"http_requests_total{route="listClients",method="GET",status="401"} 1"#,
            #"http_requests_total{route="getClient",method="GET",status="404"} 1"#,
            #"http_requests_total{route="",method="other",status="404"} 1"#,
            #"http_requests_total{route="",method="other",status="400"} 1"#,
            #"http_problems_total{code="unauthorized"} 1"#, #"http_problems_total{code="unknown-client"} 1"#,
            #"http_request_duration_seconds_count{route="listClients"} 2"#,
        ] {
            #expect(text.contains(MetricNames.prefix + line + "\n"), "\(line)")
        }
        #expect(!text.contains("secret-path") && !text.contains("lsg_"))
    }

    @Test func countersOfAnUpstreamIncludeDeletedClients() async throws {
        let fixture = try await AccessFixture()
        let upstreamMetrics = fixture.services.pool.upstreamMetrics
        let client = try fixture.services.pool.createClient(ClientSpecification(target: .upstream("demo")))
        var message = MessageSubmission(text: "hello")
        message.enqueueWhileDisconnected = true
        _ = try client.send(message)
        upstreamMetrics.serverError(7, on: client)
        upstreamMetrics.subscriptionError(17, on: client)
        upstreamMetrics.connectionFailed(.nameNotFound, on: client)
        #expect(upstreamMetrics.totals.map(\.counters.messages) == [1])
        upstreamMetrics.removed(client)
        #expect(upstreamMetrics.totals.map(\.counters.messages) == [1])
        let text = exposition(fixture).text
        #expect(text.contains(#"upstream_messages_total{upstream="demo"} 1"#))
        #expect(text.contains(#"upstream_connection_failures_total{upstream="demo",reason="name-not-found"} 1"#))
        #expect(text.contains(#"upstream_server_errors_total{upstream="demo",code="7"} 1"#))
        #expect(text.contains(#"upstream_subscription_errors_total{upstream="demo",code="17"} 1"#))
    }

    /// A client that a request has made without a connection, or has disconnected, does not report the server as down.
    @Test func onlyARefusedOrConnectingClientMakesAnUpstreamDown() async throws {
        let fixture = try await AccessFixture()
        let client = try fixture.services.pool.createClient(ClientSpecification(target: .upstream("demo")))
        let line = MetricNames.upstreamUp.name + #"{upstream="demo"}"#
        #expect(client.core.status == .disconnected)
        #expect(!exposition(fixture).text.contains(line))
        client.client(client.core, emitted: .serverError(code: 1, message: "User/password check failed"))
        #expect(exposition(fixture).text.contains(line + " 0\n"))
    }

    /// The client was gone, and the upstream neither up nor down.
    @Test func anUpstreamThatRefusesItsPooledSessionIsDown() async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["f"]}"#
        #expect(fixture.perform("POST", "/v1/subscriptions", as: AccessFixture.admin, body).status == 201)
        let client = try #require(fixture.services.pool.clients().first)
        client.client(client.core, emitted: .serverError(code: 1, message: "User/password check failed"))
        #expect(fixture.services.pool.clients().isEmpty)
        #expect(exposition(fixture).text.contains(MetricNames.upstreamUp.name + "{upstream=\"demo\"} 0\n"))
    }

    @Test func inventedCodesAreCountedTogetherInTheEnd() async throws {
        let pool = try await AccessFixture().services.pool
        let upstreamMetrics = pool.upstreamMetrics
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        for code in 0..<1_000 { upstreamMetrics.serverError(code, on: client) }
        #expect(upstreamMetrics.errors.sessions.count == 201)
        #expect(upstreamMetrics.errors.sessions.values.reduce(0, +) == 1_000)
    }

    @Test func theProcessIsKnown() {
        let figures = ProcessFigures()
        #expect(
            figures.cpuSeconds > 0 && figures.residentBytes > 1 << 20 && figures.virtualBytes > figures.residentBytes
        )
        #expect(figures.openFiles > 2 && figures.maxFiles >= UInt64(figures.openFiles))
        #expect(abs(ProcessFigures.startedAt - Date().timeIntervalSince1970) < 86_400)
    }
}
