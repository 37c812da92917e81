import LightstreamerClient

/// Prints ten updates of two items of the demo server. `lightstreamer-gateway demo` starts one and prints its address,
/// which is the argument; by default `http://127.0.0.1:8090`.
@main
struct Quotes {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8090"
        let client = try LightstreamerClient(serverAddress: address, adapterSet: "DEMO")
        let quotes = try Subscription(mode: .merge, items: ["item1", "item2"], fields: ["stock_name", "last_price"])
        try quotes.setDataAdapter("QUOTE_ADAPTER")
        try client.subscribe(quotes)
        try client.connect()

        for try await update in quotes.updates().prefix(10) {
            let name = try update.value(withFieldName: "stock_name") ?? "-"
            let price = try update.value(withFieldName: "last_price") ?? "-"
            print(update.isSnapshot ? "snapshot" : "update", name, price)
        }
        await client.shutdown()
    }
}
