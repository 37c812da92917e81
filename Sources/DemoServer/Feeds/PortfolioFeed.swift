internal import Primitives
internal import TLCP

/// `PORTFOLIO_ADAPTER`: the table `portfolio1`, whose keys are items of the quote feed.
struct PortfolioFeed: Feed {
    let fields = ["key", "command", "qty"]

    private static let itemName = "portfolio1"
    private static let candidates = 1...12

    private let pause: ClosedRange<Duration>
    private var generator: SplitMix64
    private var holdings: [(key: String, quantity: Int)] = []
    private var due: Duration?

    init(_ configuration: FeedConfiguration, seed: UInt64) {
        pause = configuration.portfolioPause
        generator = SplitMix64(seed: seed, part: PortfolioFeed.itemName)
        for number in PortfolioFeed.candidates.shuffled(using: &generator).prefix(5) {
            holdings.append(("item\(number)", Int.random(in: 1...40, using: &generator) * 25))
        }
        due = configuration.isMoving ? generator.pause(in: pause) : nil
    }

    func item(named name: String) -> FeedItem? {
        name == PortfolioFeed.itemName ? FeedItem(mode: .command) : nil
    }

    func snapshot(of name: String) -> FeedSnapshot {
        FeedSnapshot(rows: holdings.map { row($0.key, .add, $0.quantity) })
    }

    var nextChange: Duration? { due }

    mutating func advance(to now: Duration) -> [FeedEvent] {
        var events: [FeedEvent] = []
        while let time = due, time <= now {
            events.append(FeedEvent(item: PortfolioFeed.itemName, content: .row(change())))
            due = time + generator.pause(in: pause)
        }
        return events
    }

    /// Adds, removes or, most often, changes a share; at least three shares remain.
    private mutating func change() -> FeedRow {
        let held = Set(holdings.map(\.key))
        let missing = PortfolioFeed.candidates.map { "item\($0)" }.filter { !held.contains($0) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0 where holdings.count > 3:
            let sold = holdings.remove(at: Int.random(in: holdings.indices, using: &generator))
            return row(sold.key, .delete, nil)
        case 1 where !missing.isEmpty:
            let key = missing[Int.random(in: missing.indices, using: &generator)]
            holdings.append((key, Int.random(in: 1...40, using: &generator) * 25))
            return row(key, .add, holdings[holdings.count - 1].quantity)
        default:
            let index = Int.random(in: holdings.indices, using: &generator)
            let change = Int.random(in: 1...8, using: &generator) * (Bool.random(using: &generator) ? 25 : -25)
            holdings[index].quantity = max(25, holdings[index].quantity + change)
            return row(holdings[index].key, .update, holdings[index].quantity)
        }
    }

    private func row(_ key: String, _ kind: RowCommand.Kind, _ quantity: Int?) -> FeedRow {
        FeedRow(
            values: [key, kind.rawValue, quantity.map(String.init)],
            command: RowCommand(key: UpstreamName(key), kind: kind)
        )
    }
}
