internal import LightstreamerClient
internal import LightstreamerTesting
internal import Testing

// The Swift blocks of the page on LightstreamerTesting, executed. `DocumentationTests` compares them line by line.

@Suite(.timeLimit(.minutes(1))) struct TestingSnippets {
    @Test func priceArrives() async throws {
        try await withTestServer(TestAdapter(items: ["item1"], fields: ["last_price"])) { server in
            try await server.update("item1", ["last_price": "3.04"])
            try await withLightstreamerClient(serverAddress: server.address) { client in
                for try await update in client.updates(items: ["item1"], fields: ["last_price"]) {
                    #expect(update["last_price"] == "3.04")
                    break
                }
            }
        }
    }

    @Test func messagesAreAnsweredAfterASubscription() async throws {
        try await withTestServer(TestAdapter(items: ["item1"], fields: ["last_price"])) { server in
            try await withLightstreamerClient(serverAddress: server.address) { client in
                let quotes = client.updates(items: ["item1"], fields: ["last_price"])
                let reader = Task { for try await _ in quotes {} }
                try await server.waits { $0.subscriptions == 1 }
                try await server.update("item1", ["last_price": "3.05"])
                reader.cancel()
                _ = await reader.result

                await server.respond(to: "buy 3", with: .failed(code: -5, message: "no funds"))
                let outcome = try await client.send("buy 3", in: "orders")
                #expect(outcome == .denied(code: -5, message: "no funds"))
                #expect(await server.messages == ["buy 3"])
            }
        }
    }

    @Test func connectionsAreCutAndSilent() async throws {
        try await withTestServer(TestAdapter(fields: ["last_price"])) { server in
            // The connection is cut; the client recovers the session.
            await server.install(Fault(.drop))
            // The next two subscriptions are refused.
            await server.install(Fault(.refuse(code: -7, message: "not for you"), at: .request(.add), times: 2))
            // After ten more updates the connection stays open, and nothing arrives.
            await server.install(Fault(.halfOpen, at: .data(10)))
        }
    }

    @Test func noTimePasses() async throws {
        try await withTestServer(TestAdapter(fields: ["last_price"])) { server in
            let clock = ManualClock()
            let client = try LightstreamerClient(
                serverAddress: server.address,
                configuration: ClientConfiguration(clock: clock)
            )
            let events = client.events()
            try await client.connected()
            await server.install(Fault(.halfOpen))
            await clock.timerIsSet(within: .seconds(7))
            clock.advance(by: .seconds(7))
            for try await event in events {
                if case .status(.stalled) = event { break }
            }
            await client.shutdown()
        }
    }
}
