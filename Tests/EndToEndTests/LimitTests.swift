internal import DemoServer
internal import Foundation
internal import JSONText
internal import Logging
internal import Testing

/// The limits of a configuration, tested with the program.
@Suite struct LimitTests {
    private static func withGateway(_ configuration: String, _ body: (String) async throws -> Void) async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = DemoServer(DemoServerConfiguration(), logger: quiet)
        let running = Task { try await server.run() }
        let upstream = "upstreams.demo.serverAddress=http://127.0.0.1:\(try await server.boundPort)"
        let folder = try ProcessFolder()
        let file = try folder.write("gateway.yaml", configuration)
        let process = try GatewayProcess([
            "serve", "--port", "0", "--config", file, "--set", upstream, "--set", "upstreams.demo.adapterSet=DEMO",
        ])
        try await body(try await process.address())
        await process.stop()
        running.cancel()
        _ = await running.result
    }

    private static let client = #"{"upstream":"demo"}"#
    private static let subscription = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["time"]}"#
    private static let patience = ["Prefer": "wait=60"]

    @Test func aBlockedSessionIsRefusedToClientsAndToThePool() async throws {
        let configuration = """
            pool: {maxConcurrentSessionsPerServer: 1, maxConcurrentSessionsPerServerExceededPolicy: BLOCK}
            upstreams: {demo: {options: {forcedTransport: HTTP-STREAMING}}}
            """
        try await Self.withGateway(configuration) { url in
            let upstream = try await call("GET", url + "/v1/upstreams/demo")
            #expect(upstream["maxConcurrentSessionsPerServer"]?.text == "1")
            #expect(upstream.string("maxConcurrentSessionsPerServerExceededPolicy") == "BLOCK")
            let first = try await call("POST", url + "/v1/clients", json: Self.client, headers: Self.patience)
            #expect(first.string("status") == "CONNECTED:HTTP-STREAMING")
            let second = try await call("POST", url + "/v1/clients", json: Self.client)
            #expect(second.status == 409)
            #expect(second.string("code") == "too-many-sessions")
            let pooled = try await call("POST", url + "/v1/subscriptions", json: Self.subscription)
            #expect(pooled.status == 429)
            #expect(pooled.header("Retry-After") != nil)
            #expect(try await call("GET", url + "/v1/subscriptions")["subscriptions"]?.array?.isEmpty == true)
            #expect(try await call("GET", url + "/v1/clients")["clients"]?.array?.count == 1)
        }
    }

    @Test func valuesBeyondTheBudgetOfTheirUpstreamEndTheSubscription() async throws {
        try await Self.withGateway("upstreams: {demo: {maxValues: 400}}") { url in
            // Few events before the error: a stream that opens later receives the first eight.
            let items = (1...5).map { "item\($0)" }.joined(separator: ",")
            let query = "/v1/stream?upstream=demo&mode=MERGE&items=\(items)&fields=stock_name,last_price,time"
            var stream = try await EventStream(url + query)
            let error = try await stream.first("subscription-error")
            #expect(error["code"]?.number?.text == "1000")
            #expect(error["detail"]?.string?.contains("raise maxValues") == true)
            #expect(error["detail"]?.string?.contains("Metadata Adapter") == false)
            #expect(error["message"]?.string?.contains("400 bytes") == true)
            #expect(try await stream.first("closing")["reason"] == "refused")
            var small = try await EventStream(
                url + "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=stock_name,last_price"
            )
            _ = try await small.first("update") { $0["snapshot"] == .bool(false) }
            let metrics = try await call("GET", url + "/metrics")
            #expect(metrics.text.contains("lightstreamer_gateway_upstream_value_limit_bytes{upstream=\"demo\"} 400"))
        }
    }

    /// A caller with many tables does not take the room of the others.
    @Test func valuesOfTheCallerWithTheMostMakeRoom() async throws {
        let configuration = """
            upstreams: {demo: {maxValues: 2500}}
            auth:
              keys:
                a: {hash: "sha256:7e4f7cbc14402f20a51af6a80669ced59fe07f8a44455a808fb5973e4c54cdd5"}
                b: {hash: "sha256:2f751fa6c5472fce58e0bc49ce733cfbe70f538a772131c2ca9845b01a63771a"}
            """
        try await Self.withGateway(configuration) { url in
            let fields = "stock_name,last_price,time,pct_change,bid,ask,min,max,ref_price,open_price"
            func open(_ caller: String, _ item: String, _ frequency: Int) async throws -> EventStream {
                let query = "items=\(item)&fields=\(fields)&requestedMaxFrequency=\(frequency)"
                let key = "lsg_" + String(repeating: caller, count: 43)
                return try await EventStream(url + "/v1/stream?" + query, headers: ["Authorization": "Bearer \(key)"])
            }
            var tables: [EventStream] = []
            // About 540 bytes each.
            for frequency in 1...4 {
                var table = try await open("a", "item1", frequency)
                _ = try await table.first("update")
                tables.append(table)
            }
            var other = try await open("b", "item2", 1)
            for isSnapshot in [true, false] {
                _ = try await other.first("update") { $0["snapshot"] == .bool(isSnapshot) }
            }
            let metrics = try await call(
                "GET",
                url + "/metrics",
                headers: ["Authorization": "Bearer lsg_" + String(repeating: "a", count: 43)]
            )
            #expect(metrics.text.contains("upstream_subscription_errors_total{upstream=\"demo\",code=\"1000\"} 1"))
        }
    }

    @Test func sessionsBeyondTheLimitPoll() async throws {
        let configuration = """
            pool: {maxConcurrentSessionsPerServer: 0, maxConcurrentSessionsPerServerExceededPolicy: USE-POLLING}
            """
        try await Self.withGateway(configuration) { url in
            let client = try await call("POST", url + "/v1/clients", json: Self.client, headers: Self.patience)
            #expect(client.string("status") == "CONNECTED:HTTP-POLLING")
        }
    }

    @Test func tooManyRequestsGetRetryAfter() async throws {
        // The fourth request is permitted a quarter of an hour later.
        try await Self.withGateway("limits: {rate: 0.001, burst: 3, loopback: true}") { url in
            for _ in 0..<3 { #expect(try await call("GET", url + "/v1/clients").status == 200) }
            let refused = try await call("GET", url + "/v1/clients")
            #expect(refused.status == 429)
            #expect(refused.string("code") == "rate-limited")
            #expect(refused.header("Retry-After").flatMap(Int.init) ?? 0 > 0)
            #expect(refused.header("RateLimit")?.contains("r=0") == true)
            #expect(try await call("GET", url + "/health/live").status == 200)
        }
    }
}
