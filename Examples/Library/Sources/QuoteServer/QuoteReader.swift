import LightstreamerClient
import ServiceLifecycle
import Synchronization

/// The last quote of each item.
final class QuoteBoard: Sendable {
    private let prices = Mutex<[String: Double]>([:])

    /// The last price of an item; nil before its first quote.
    func price(of item: String) -> Double? { prices.withLock { $0[item] } }

    fileprivate func set(_ price: Double, of item: String) { prices.withLock { $0[item] = price } }
}

/// Keeps a board up to date. `latest()` leaves out what is old by the time at which it is read.
struct QuoteReader: Service {
    private struct Quote: Decodable {
        var last_price: Double
    }

    let client: LightstreamerClient
    let board: QuoteBoard

    func run() async throws {
        let quotes = client.updates(of: Quote.self, items: ["item1", "item2"], dataAdapter: "QUOTE_ADAPTER").latest()
        for try await quote in quotes.cancelOnGracefulShutdown() {
            if let item = quote.itemName { board.set(quote.last_price, of: item) }
        }
    }
}
