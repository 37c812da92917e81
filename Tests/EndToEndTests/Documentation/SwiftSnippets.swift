internal import LightstreamerClient

// The Swift blocks of README and the documentation catalog, compiled. `DocumentationTests` compares them line by line.

/// README, *Client library*.
func readmeExample() async throws {
    struct Quote: Decodable {
        var last_price: Double
        var time: String?
    }

    try await withLightstreamerClient(serverAddress: "https://push.example.com", adapterSet: "QUOTES") { client in
        for try await quote in client.updates(of: Quote.self, items: ["item1"]) {
            print(quote.itemName ?? "", quote.last_price, quote.time ?? "-")
        }
    }
}

/// The catalog's first page, *Subscriptions*.
func subscriptionExample() async throws {
    let client = try LightstreamerClient(serverAddress: "https://push.example.com", adapterSet: "DEMO")
    let quotes = try Subscription(mode: .merge, items: ["item1", "item2"], fields: ["last_price", "time"])
    try quotes.setDataAdapter("QUOTE_ADAPTER")
    try client.subscribe(quotes)
    try client.connect()

    for try await update in quotes.updates() {
        print(update.itemName ?? "", try update.changedFields)
    }
}

/// The catalog's first page, *Connection status*.
func statusExample(_ client: LightstreamerClient) throws {
    final class Watch: ClientDelegate {
        func client(_ client: LightstreamerClient, didChangeStatus status: ClientStatus) {
            print(status.rawValue)
        }
        func client(_ client: LightstreamerClient, didReceiveServerError code: Int, withMessage message: String) {
            print("refused:", code, message)
        }
    }

    try client.connectionOptions.setRetryDelay(5)
    client.addDelegate(Watch())
}

/// The catalog's first page, *Messages*.
func messageExample(_ client: LightstreamerClient) throws {
    final class Receipt: ClientMessageDelegate {
        func client(_ client: LightstreamerClient, didProcessMessage message: String, withResponse response: String) {
            print(message, "->", response)
        }
    }

    try client.sendMessage("order 7", withSequence: "orders", delegate: Receipt())
}
