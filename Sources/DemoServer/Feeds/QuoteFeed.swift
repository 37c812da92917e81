/// `QUOTE_ADAPTER`, and `DEFAULT` as well: thirty shares whose prices walk at random.
struct QuoteFeed: Feed {
    let fields = [
        "stock_name", "last_price", "time", "pct_change", "bid_quantity", "bid", "ask", "ask_quantity", "min", "max",
        "ref_price", "open_price", "item_status",
    ]

    private let pause: ClosedRange<Duration>
    private let maxFrequency: Double?
    private let clockStart: Int64
    private var quotes: [Quote]
    private var due = DeadlineQueue<Int>()

    /// Opens the market.
    ///
    /// - Parameters:
    ///   - clockStart: Milliseconds since 1970 at the server's time zero.
    init(_ configuration: FeedConfiguration, seed: UInt64, clockStart: Int64) {
        pause = configuration.quotePause
        maxFrequency = configuration.quoteFrequencyLimit
        self.clockStart = clockStart
        quotes = QuoteFeed.names.enumerated().map { index, name in
            Quote(name: name, generator: SeededGenerator(seed: seed, part: "item\(index + 1)"))
        }
        guard configuration.isMoving else { return }
        for index in quotes.indices {
            due.set(index, at: quotes[index].generator.pause(in: pause))
        }
    }

    func item(named name: String) -> FeedItem? {
        index(of: name).map { _ in FeedItem(mode: .merge, maxFrequency: maxFrequency, dropsUnchanged: true) }
    }

    func snapshot(of name: String) -> FeedSnapshot {
        FeedSnapshot(rows: index(of: name).map { [row(of: $0)] } ?? [])
    }

    var nextChange: Duration? {
        mutating get { due.earliest }
    }

    mutating func advance(to now: Duration) -> [FeedEvent] {
        var events: [FeedEvent] = []
        while let (index, time) = due.popDue(by: now) {
            quotes[index].trade(at: time)
            due.set(index, at: time + quotes[index].generator.pause(in: pause))
            events.append(.row(item: "item\(index + 1)", row(of: index)))
        }
        return events
    }

    private func index(of name: String) -> Int? {
        guard name.hasPrefix("item"), let number = Int(name.dropFirst(4)), name == "item\(number)" else { return nil }
        return quotes.indices.contains(number - 1) ? number - 1 : nil
    }

    private func row(of index: Int) -> FeedRow {
        FeedRow(values: quotes[index].values(clockStart: clockStart))
    }

    private static let names = [
        "Alder & Pike", "Basalt Mining", "Cobalt Air", "Driftwood Foods", "Eastgate Rail", "Fenwick Paper",
        "Granary Mutual", "Harbour Cranes", "Inkwell Press", "Juniper Labs", "Kestrel Optics", "Lantern Energy",
        "Millrace Water", "Northlight Glass", "Orchard Trust", "Parallel Freight", "Quarry Stone", "Redwing Motors",
        "Saltmarsh Salt", "Tideline Shipping", "Umber Paints", "Vantage Maps", "Willow Textiles", "Xylem Timber",
        "Yarrow Pharma", "Zenith Clocks", "Amber Insurance", "Bramble Toys", "Copperfield Wire", "Dovetail Tools",
    ]
}
