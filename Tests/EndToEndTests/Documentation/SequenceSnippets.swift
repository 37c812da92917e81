internal import LightstreamerClient

// The Swift blocks of *Asynchronous sequences and calls*, compiled. `DocumentationTests` compares them line by line.

/// Typed rows.
func typedRows(_ client: LightstreamerClient) async throws {
    struct Quote: Decodable {
        var name: String
        var price: Double?

        enum CodingKeys: String, CodingKey {
            case name = "stock_name"
            case price = "last_price"
        }
    }

    do {
        for try await quote in client.updates(of: Quote.self, items: ["item1"], dataAdapter: "QUOTE_ADAPTER") {
            print(quote.itemName ?? "-", quote.name, quote.price ?? 0)
        }
    } catch let refusal as SubscriptionRefused {
        print("wrong item, field or adapter:", refusal.code, refusal.message)
    } catch let refusal as SessionRefused {
        print("wrong adapter set or credentials:", refusal.code, refusal.message)
    }
}

/// Untyped rows.
func untypedRows(_ client: LightstreamerClient) async throws {
    var properties = SubscriptionProperties(mode: .merge, items: .list(["item1"]), fields: .list(["last_price"]))
    properties.dataAdapter = "QUOTE_ADAPTER"
    properties.requestedMaxFrequency = .limited(1)
    for try await update in client.updates(properties) {
        print(update["last_price"] ?? "null")
    }
}

/// Conflation.
func conflation(_ quotes: UpdateSequence<ItemUpdate>, store: (ItemUpdate) async throws -> Void) async throws {
    for try await quote in quotes.latest() {
        try await store(quote)
    }
}

/// Calls that wait.
func waitingCalls(_ client: LightstreamerClient, _ portfolio: Subscription) async throws {
    try await client.connected()
    try client.subscribe(portfolio)
    try await portfolio.activated()
    for row in try await portfolio.snapshot() {
        print(row.key ?? "-", row["qty"] ?? "-")
    }
    let outcome = try await client.send("order 7", in: "orders")
    print(outcome)
}
