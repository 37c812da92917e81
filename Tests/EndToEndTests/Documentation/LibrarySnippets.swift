internal import LightstreamerClient
internal import Synchronization

// The Swift blocks of the catalog's pages on the client library, compiled. `DocumentationTests` compares them line by
// line.

/// First subscription, the program.
func firstSubscription() async throws {
    let client = try LightstreamerClient(serverAddress: "http://127.0.0.1:8090", adapterSet: "DEMO")
    let quotes = client.updates(
        items: ["item1", "item2"],
        fields: ["stock_name", "last_price"],
        dataAdapter: "QUOTE_ADAPTER"
    )

    for try await update in quotes.prefix(10) {
        print(update.isSnapshot ? "snapshot" : "update", update["stock_name"] ?? "-", update["last_price"] ?? "-")
    }
    await client.shutdown()
}

/// First subscription, *Errors*.
func subscriptionErrors(_ quotes: Subscription) async throws {
    for try await event in quotes.events() {
        switch event {
        case .subscribed: print("subscribed")
        case .failed(let code, let message): print("refused with code \(code): \(message)")
        case .update(let update): print(update.itemPos, update.changedFieldsByPositions)
        default: break
        }
    }
}

/// Connection status.
func connectionStatus(_ client: LightstreamerClient) async throws {
    for try await event in client.events() {
        switch event {
        case .status(let status): print("status:", status.rawValue)
        case .serverError(let code, let message): print("refused with code \(code): \(message)")
        default: break
        }
    }
}

/// COMMAND tables.
func commandTables(_ client: LightstreamerClient) async throws {
    let portfolio = try Subscription(mode: .command, items: ["portfolio1"], fields: ["key", "command", "qty"])
    try portfolio.setDataAdapter("PORTFOLIO_ADAPTER")
    try client.subscribe(portfolio)

    var quantities: [String: String] = [:]
    for try await event in portfolio.events() {
        switch event {
        case .update(let update):
            guard let key = update.key else { continue }
            quantities[key] = update.command == "DELETE" ? nil : try update.value(withFieldName: "qty")
        case .clearSnapshot, .unsubscribed:
            quantities = [:]
        default:
            break
        }
    }
}

/// Session recovery.
func sessionRecovery(_ client: LightstreamerClient) throws {
    try client.connectionOptions.setSessionRecoveryTimeout(0)
    try client.connectionOptions.setRetryDelay(5)
}

/// Back-pressure, the reader.
func slowReader(_ quotes: Subscription) async throws {
    while !Task.isCancelled {
        do {
            for try await update in quotes.updates(bufferedUpTo: 10_000) {
                print(update.itemPos, update.changedFieldsByPositions)
            }
        } catch let error as ClientError where error.code == .slowReader {
            print("missed events; the present price is", try quotes.valueWithItemPos(1, fieldName: "last_price") ?? "-")
        }
    }
}

/// Back-pressure, the frequency.
func limitFrequency(_ quotes: Subscription) throws {
    try quotes.setRequestedMaxFrequency(.limited(2))
}

/// Delegates and concurrency.
final class PriceBoard: SubscriptionDelegate {
    private let prices = Mutex<[String: String]>([:])

    func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate) {
        guard let item = itemUpdate.itemName, let price = itemUpdate.value(at: 2) else { return }
        prices.withLock { $0[item] = price }
    }

    func price(of item: String) -> String? { prices.withLock { $0[item] } }
}
