internal import InMemoryTracing
internal import LightstreamerClient
internal import LightstreamerTesting
internal import MetricsTestKit
internal import ServiceLifecycleTestKit
internal import Testing
internal import Tracing

/// A client as a service, with metrics and spans.
@Suite(.timeLimit(.minutes(1))) struct EcosystemTests {
    /// The tracer of the process, which can be set once.
    private static let tracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    @Test func serviceLastsUntilAGracefulShutdown() async throws {
        try await withTestServer(TestAdapter(fields: ["x"])) { server in
            let client = try LightstreamerClient(serverAddress: server.address)
            try await testGracefulShutdown { trigger in
                let running = Task { try await client.run() }
                try await client.connected()
                trigger.triggerGracefulShutdown()
                try await running.value
            }
            #expect(client.status == .disconnected)
            #expect(throws: ClientError.self) { try client.connect() }
        }
    }

    @Test func serviceEndsWithTheClient() async throws {
        try await withTestServer(TestAdapter(fields: ["x"])) { server in
            let client = try LightstreamerClient(serverAddress: server.address)
            let running = Task { try await client.run() }
            try await client.connected()
            await client.shutdown()
            try await running.value
        }
    }

    @Test func refusedSessionEndsTheService() async throws {
        try await withTestServer(TestAdapter(fields: ["x"])) { server in
            let client = try LightstreamerClient(serverAddress: server.address, adapterSet: "NOPE")
            let refusal = await #expect(throws: SessionRefused.self) { try await client.run() }
            #expect(refusal?.code == 2)
        }
    }

    @Test func metricsCountEvents() async throws {
        let metrics = TestMetrics()
        func total(_ name: String, _ dimensions: [(String, String)] = []) -> Int64 {
            metrics.counterTotal(label: "lightstreamer_client_\(name)_total", dimensions: dimensions)
        }
        try await withTestServer(TestAdapter(mode: .raw, fields: ["x"])) { server in
            var configuration = ClientConfiguration()
            configuration.metrics = metrics
            try await withLightstreamerClient(serverAddress: server.address, configuration: configuration) { client in
                let events = try Subscription(mode: .raw, items: ["e"], fields: ["x"])
                try client.subscribe(events)
                try await events.activated()
                let meter = try metrics.expectMeter("lightstreamer_client_connected")
                #expect(meter.lastValue == 1)
                var updates = events.updates().makeAsyncIterator()
                try await server.loseUpdates(3, of: "e")
                for x in 1...2 { try await server.update("e", ["x": "\(x)"]) }
                while try await updates.next()?["x"] != "2" {}
                await server.respond(to: "no", with: .failed(code: -1, message: ""))
                _ = try await client.send("no")
                _ = try await client.send("yes")
                await server.endSessions(code: 48, message: "again")
                try await server.waits { $0.subscriptions == 1 }
                try await client.connected()
            }
        }
        #expect(total("updates") == 2 && total("lost_updates") == 3 && total("server_errors") == 0)
        #expect(total("sessions") == 2 && total("interruptions") == 1 && total("received_bytes") > 0)
        #expect(total("messages", [("outcome", "denied")]) == 1)
        #expect(total("messages", [("outcome", "processed")]) == 1)
        #expect(try metrics.expectMeter("lightstreamer_client_connected").values == [1, 0, 1, 0])
    }

    @Test func callsThatWaitHaveSpans() async throws {
        let tracer = Self.tracer
        try await withTestServer(TestAdapter(items: ["item1"], fields: ["x"])) { server in
            try await withLightstreamerClient(serverAddress: server.address) { client in
                _ = try await client.send("text", in: "orders")
                let quote = try Subscription(mode: .merge, items: ["item1"], fields: ["x"])
                try client.subscribe(quote)
                try await quote.activated()
            }
            let wrong = try LightstreamerClient(serverAddress: server.address, adapterSet: "NOPE")
            await #expect(throws: SessionRefused.self) { try await wrong.connected() }
            await wrong.shutdown()
            let spans = tracer.finishedSpans.filter { $0.attributes.text("server.address") == server.address }
            let names = ["connect", "send", "subscribe", "connect"].map { "lightstreamer \($0)" }
            try #require(spans.map(\.operationName) == names)
            #expect(spans.allSatisfy { $0.kind == .client })
            #expect(spans[0].parentSpanID == spans[1].spanID)
            #expect(spans[1].attributes.text("lightstreamer.sequence") == "orders")
            #expect(spans[2].attributes.text("lightstreamer.items") == "item1")
            #expect(spans[3].attributes.text("lightstreamer.adapter_set") == "NOPE")
            #expect(spans[3].errors.first?.error is SessionRefused)
        }
    }
}

extension SpanAttributes {
    /// The text of an attribute; nil if there is none.
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text)? = get(name) { text } else { nil }
    }
}
