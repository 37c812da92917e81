import LightstreamerClient
import LightstreamerTesting
import Testing

@testable import QuoteServer
@testable import Quotes

/// The programs of this package against a server in the process of the test.
@Suite(.timeLimit(.minutes(1))) struct ExampleTests {
    private func run(_ body: (TestServer) async throws -> Void) async throws {
        var options = TestServerOptions()
        options.adapterSet = "DEMO"
        let quotes = TestAdapter("QUOTE_ADAPTER", items: ["item1", "item2"], fields: ["stock_name", "last_price"])
        try await withTestServer(quotes, options: options) { server in
            try await server.update("item1", ["stock_name": "Anduct", "last_price": "3.04"], in: "QUOTE_ADAPTER")
            try await body(server)
        }
    }

    @Test func updatesAreShown() async throws {
        try await run { server in
            var lines: [String] = []
            try await Quotes.follow(server.address, count: 1) { lines.append($0) }
            #expect(lines == ["snapshot Anduct 3.04"])
        }
    }

    @Test func boardHasTheLastPrice() async throws {
        try await run { server in
            let board = QuoteBoard()
            try await withLightstreamerClient(serverAddress: server.address, adapterSet: "DEMO") { client in
                let reading = Task { try await QuoteReader(client: client, board: board).run() }
                try await server.waits { $0.notifications >= 1 }
                await server.endSessions(code: 32, message: "closed")
                await #expect(throws: SessionRefused.self) { try await reading.value }
            }
            #expect(board.price(of: "item1") == 3.04 && board.price(of: "item2") == nil)
        }
    }
}
