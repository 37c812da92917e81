internal import Primitives

/// `JSON_FEED`: the items `document1` and `document2`, each a JSON document and a long text that change in small parts.
///
/// With `FeedConfiguration.diffs`, changes of `document` are sent as JSON Patch and changes of `text` as TLCP-diff to
/// clients that accept these formats.
struct DocumentFeed: Feed {
    let fields = ["time", "document", "text"]

    private struct Order: Sendable {
        var quantity: Int
        var note: String
        var tags: [String]
    }

    private let pause: ClosedRange<Duration>
    private let diffs: Bool
    private let clockStart: Int64
    private var generator: SplitMix64
    private var orders: [Order]
    private var changedAt = [Duration.zero, Duration.zero]
    private var due = DeadlineQueue<Int>()

    /// A feed with the first version of both documents.
    init(_ configuration: FeedConfiguration, seed: UInt64, clockStart: Int64) {
        pause = configuration.documentPause
        diffs = configuration.diffs
        self.clockStart = clockStart
        generator = SplitMix64(seed: seed, part: "document")
        orders = [
            Order(quantity: 3, note: "fragile", tags: ["new"]),
            Order(quantity: 12, note: "a \"quoted\" note", tags: []),
        ]
        guard configuration.isMoving else { return }
        for index in orders.indices {
            due.set(index, at: generator.pause(in: pause))
        }
    }

    func item(named name: String) -> FeedItem? {
        index(of: name).map { _ in
            FeedItem(mode: .merge, fieldDiffs: diffs ? [1: .jsonPatch, 2: .tlcpDiff] : [:])
        }
    }

    func snapshot(of name: String) -> FeedSnapshot {
        FeedSnapshot(rows: index(of: name).map { [row(of: $0)] } ?? [])
    }

    var nextChange: Duration? { mutating get { due.earliest } }

    mutating func advance(to now: Duration) -> [FeedEvent] {
        var events: [FeedEvent] = []
        while let (index, time) = due.popDue(by: now) {
            change(index)
            changedAt[index] = time
            due.set(index, at: time + generator.pause(in: pause))
            events.append(FeedEvent(item: "document\(index + 1)", content: .row(row(of: index))))
        }
        return events
    }

    private func index(of name: String) -> Int? { ["document1", "document2"].firstIndex(of: name) }

    private mutating func change(_ index: Int) {
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: orders[index].quantity = Int.random(in: 1...99, using: &generator)
        case 1 where orders[index].tags.count < 4: orders[index].tags.append("t\(orders[index].quantity)")
        case 1: orders[index].tags.removeFirst()
        default: orders[index].note = ["fragile", "urgent", "on hold", "café"].randomElement(using: &generator) ?? ""
        }
    }

    private func row(of index: Int) -> FeedRow {
        let order = orders[index]
        let note = order.note.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        let tags = order.tags.map { "\"\($0)\"" }.joined(separator: ",")
        let head = #"{"order":{"id":"\#(index + 1)","warehouse":"north","customer":"Millrace Water"},"#
        let document = head + #""quantity":\#(order.quantity),"note":"\#(note)","tags":[\#(tags)]}"#
        let text =
            "Order \(index + 1) of Millrace Water, from the northern warehouse: \(order.quantity) pieces in stock."
        let time = ClockText.timeOfDay(at: changedAt[index], clockStart: clockStart)
        return FeedRow(values: [time, document, text])
    }
}
