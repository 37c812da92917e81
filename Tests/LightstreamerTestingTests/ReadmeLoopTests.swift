internal import LightstreamerClient
internal import LightstreamerTesting
internal import Testing

/// The loop of README, *Client library*: what is wrong for good is thrown, what is not for good does not end the loop.
@Suite(.timeLimit(.minutes(1))) struct ReadmeLoopTests {
    private struct Quote: Decodable {
        var last_price: Double
        var time: String?
    }

    /// Runs the loop until the body returns false.
    private func loop(
        _ server: TestServer,
        adapterSet: String = "QUOTES",
        item: String = "item1",
        _ body: (RowUpdate<Quote>) async throws -> Bool = { _ in false }
    ) async throws {
        try await withLightstreamerClient(serverAddress: server.address, adapterSet: adapterSet) { client in
            for try await quote in client.updates(of: Quote.self, items: [item]) {
                if try await !body(quote) { break }
            }
        }
    }

    private func run(fields: [String] = ["last_price", "time"], _ body: (TestServer) async throws -> Void) async throws
    {
        var options = TestServerOptions()
        options.adapterSet = "QUOTES"
        try await withTestServer(TestAdapter(items: ["item1"], fields: fields), options: options) { server in
            try await server.update("item1", ["last_price": "1"])
            try await body(server)
        }
    }

    @Test func wrongItemIsThrown() async throws {
        try await run { server in
            let refusal = await #expect(throws: SubscriptionRefused.self) { try await loop(server, item: "item9") }
            #expect(refusal?.code == 21)
        }
    }

    @Test func wrongFieldIsThrown() async throws {
        try await run(fields: ["last_price"]) { server in
            let refusal = await #expect(throws: SubscriptionRefused.self) { try await loop(server) }
            #expect(refusal?.code == 23)
        }
    }

    @Test func wrongAdapterSetIsThrown() async throws {
        try await run { server in
            let refusal = await #expect(throws: SessionRefused.self) { try await loop(server, adapterSet: "NOPE") }
            #expect(refusal?.code == 2)
        }
    }

    @Test func lostSessionIsReplaced() async throws {
        try await run { server in
            var prices: [Double] = []
            try await loop(server) { quote in
                #expect(quote.isSnapshot && quote.itemName == "item1")
                prices.append(quote.last_price)
                guard prices.count < 2 else { return false }
                await server.endSessions(code: 48, message: "again")
                return true
            }
            #expect(prices == [1, 1])
        }
    }

    @Test func cutConnectionDoesNotEndTheLoop() async throws {
        try await run { server in
            var prices: [Double] = []
            try await loop(server) { quote in
                prices.append(quote.last_price)
                guard prices.count < 2 else { return false }
                await server.install(Fault(.drop))
                try await server.update("item1", ["last_price": "2"])
                return true
            }
            #expect(prices == [1, 2])
        }
    }

    @Test func sessionClosedForGoodIsThrown() async throws {
        try await run { server in
            let refusal = await #expect(throws: SessionRefused.self) {
                try await loop(server) { _ in
                    await server.endSessions(code: 32, message: "maintenance")
                    return true
                }
            }
            #expect(refusal == SessionRefused(code: 32, message: "maintenance"))
        }
    }
}
