/// One share: its prices in cents, and the generator that moves them.
struct Quote: Sendable {
    /// Everything random about this share.
    var generator: SeededGenerator

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

    /// Opens near a random reference price between 2 and 120.
    init(name: String, generator start: SeededGenerator) {
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

    /// One trade: the price moves by up to half a percent, drawn back a little towards the reference.
    mutating func trade(at time: Duration) {
        let reach = max(1, last / 200)
        let pull = (reference - last) / 100
        last = max(1, last + Int.random(in: -reach...reach, using: &generator) + pull)
        low = min(low, last)
        high = max(high, last)
        let spread = max(1, last / 1_000)
        bid = max(1, last - Int.random(in: 1...spread, using: &generator))
        ask = last + Int.random(in: 1...spread, using: &generator)
        // One side of the book often stays as it was: fields that do not change are worth having in a demo.
        if Bool.random(using: &generator) { bidQuantity = Int.random(in: 1...90, using: &generator) * 500 }
        if Bool.random(using: &generator) { askQuantity = Int.random(in: 1...90, using: &generator) * 500 }
        tradedAt = time
    }

    /// The values in the order of the feed's fields.
    func values(clockStart: Int64) -> [String?] {
        let milliseconds = clockStart &+ Int64(tradedAt.wholeMilliseconds)
        return [
            name, CentText.text(last), ClockText.timeOfDay(millisecondsSince1970: milliseconds),
            CentText.text((last - reference) * 10_000 / reference), String(bidQuantity), CentText.text(bid),
            CentText.text(ask), String(askQuantity), CentText.text(low), CentText.text(high),
            CentText.text(reference), CentText.text(open), "active",
        ]
    }
}
