internal import Primitives

/// `QUOTE_ADAPTER` and `DEFAULT`: thirty shares with random walks of their prices.
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

    /// A market with opening prices. `clockStart`: milliseconds since 1970 at the server's time zero.
    init(_ configuration: FeedConfiguration, seed: UInt64, clockStart: Int64) {
        pause = configuration.quotePause
        maxFrequency = configuration.quoteFrequencyLimit
        self.clockStart = clockStart
        quotes = QuoteFeed.names.enumerated().map { index, name in
            Quote(name: name, generator: SplitMix64(seed: seed, part: "item\(index + 1)"))
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

    var nextChange: Duration? { mutating get { due.earliest } }

    mutating func advance(to now: Duration) -> [FeedEvent] {
        var events: [FeedEvent] = []
        while let (index, time) = due.popDue(by: now) {
            quotes[index].trade(at: time)
            due.set(index, at: time + quotes[index].generator.pause(in: pause))
            events.append(FeedEvent(item: "item\(index + 1)", content: .row(row(of: index))))
        }
        return events
    }

    private func index(of name: String) -> Int? {
        guard name.hasPrefix("item"), let number = Int(name.dropFirst(4)), name == "item\(number)" else { return nil }
        return quotes.indices.contains(number - 1) ? number - 1 : nil
    }

    private func row(of index: Int) -> FeedRow { FeedRow(values: quotes[index].values(clockStart: clockStart)) }

    private static let names = [
        "Alder & Pike", "Basalt Mining", "Cobalt Air", "Driftwood Foods", "Eastgate Rail", "Fenwick Paper",
        "Granary Mutual", "Harbour Cranes", "Inkwell Press", "Juniper Labs", "Kestrel Optics", "Lantern Energy",
        "Millrace Water", "Northlight Glass", "Orchard Trust", "Parallel Freight", "Quarry Stone", "Redwing Motors",
        "Saltmarsh Salt", "Tideline Shipping", "Umber Paints", "Vantage Maps", "Willow Textiles", "Xylem Timber",
        "Yarrow Pharma", "Zenith Clocks", "Amber Insurance", "Bramble Toys", "Copperfield Wire", "Dovetail Tools",
    ]
}

/// One share: its prices in cents, and their random generator.
struct Quote: Sendable {
    var generator: SplitMix64

    private let name: String
    private let reference: Int
    private let open: Int
    private var last: Int
    private var low: Int
    private var high: Int
    private var bid: Int
    private var ask: Int
    private var bidQuantity: Int
    private var askQuantity: Int
    private var tradedAt = Duration.zero

    /// A share with an opening price near a random reference price between 2 and 120.
    init(name: String, generator start: SplitMix64) {
        var generator = start
        reference = Int.random(in: 200...12_000, using: &generator)
        open = max(1, reference + reference * Int.random(in: -20...20, using: &generator) / 1_000)
        last = open
        low = open
        high = open
        bid = max(1, open - 1)
        ask = open + 1
        bidQuantity = Int.random(in: 1...90, using: &generator) * 500
        askQuantity = Int.random(in: 1...90, using: &generator) * 500
        self.name = name
        self.generator = generator
    }

    /// One trade: the price changes by up to half a percent, plus one percent of its distance to the reference.
    mutating func trade(at time: Duration) {
        let reach = max(1, last / 200)
        let pull = (reference - last) / 100
        last = max(1, last + Int.random(in: -reach...reach, using: &generator) + pull)
        low = min(low, last)
        high = max(high, last)
        let spread = max(1, last / 1_000)
        bid = max(1, last - Int.random(in: 1...spread, using: &generator))
        ask = last + Int.random(in: 1...spread, using: &generator)
        // Often unchanged, so that updates with unchanged fields occur in the demo.
        if Bool.random(using: &generator) { bidQuantity = Int.random(in: 1...90, using: &generator) * 500 }
        if Bool.random(using: &generator) { askQuantity = Int.random(in: 1...90, using: &generator) * 500 }
        tradedAt = time
    }

    /// The values in the order of the feed's fields.
    func values(clockStart: Int64) -> [String?] {
        [
            name, CentText.text(last), ClockText.timeOfDay(at: tradedAt, clockStart: clockStart),
            CentText.text((last - reference) * 10_000 / reference), String(bidQuantity), CentText.text(bid),
            CentText.text(ask), String(askQuantity), CentText.text(low), CentText.text(high),
            CentText.text(reference), CentText.text(open), "active",
        ]
    }
}

/// Amounts in hundredths, printed with two digits.
enum CentText {
    /// `-12.05` for −1205.
    static func text(_ cents: Int) -> String {
        let magnitude = cents.magnitude
        let fraction = magnitude % 100
        return "\(cents < 0 ? "-" : "")\(magnitude / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
