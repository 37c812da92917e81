import LightstreamerClient

/// Prints ten updates of two items of the demo server. `lightstreamer-gateway demo` starts one and prints its address,
/// which is the argument; by default `http://127.0.0.1:8090`.
@main
struct Quotes {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8090"
        try await follow(address, count: 10) { print($0) }
    }

    /// Passes lines on updates to a function.
    nonisolated(nonsending) static func follow(_ address: String, count: Int, _ show: (String) -> Void) async throws {
        try await withLightstreamerClient(serverAddress: address, adapterSet: "DEMO") { client in
            let quotes = client.updates(of: Quote.self, items: ["item1", "item2"], dataAdapter: "QUOTE_ADAPTER")
            for try await quote in quotes.prefix(count) {
                show("\(quote.isSnapshot ? "snapshot" : "update") \(quote.stock_name) \(quote.last_price)")
            }
        }
    }
}

/// The fields of an item.
private struct Quote: Decodable {
    var stock_name: String
    var last_price: Double
}
