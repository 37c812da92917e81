internal import Primitives

/// `RAW_FEED`: the items `raw1`, `raw2` and `raw3`, streams of numbered events without state.
struct RawFeed: Feed {
    let fields = ["number", "time", "text"]

    private let pause: ClosedRange<Duration>
    private let clockStart: Int64
    private var generator: SplitMix64
    private var counts = [0, 0, 0]
    private var due = DeadlineQueue<Int>()

    init(_ configuration: FeedConfiguration, seed: UInt64, clockStart: Int64) {
        pause = configuration.rawPause
        self.clockStart = clockStart
        generator = SplitMix64(seed: seed, part: "raw")
        guard configuration.isMoving else { return }
        for index in counts.indices {
            due.set(index, at: generator.pause(in: pause))
        }
    }

    func item(named name: String) -> FeedItem? {
        ["raw1", "raw2", "raw3"].contains(name) ? FeedItem(mode: .raw) : nil
    }

    func snapshot(of name: String) -> FeedSnapshot { FeedSnapshot(rows: []) }

    var nextChange: Duration? { mutating get { due.earliest } }

    mutating func advance(to now: Duration) -> [FeedEvent] {
        var events: [FeedEvent] = []
        while let (index, time) = due.popDue(by: now) {
            counts[index] += 1
            due.set(index, at: time + generator.pause(in: pause))
            let values: [String?] = [
                String(counts[index]), ClockText.timeOfDay(at: time, clockStart: clockStart),
                RawFeed.texts[Int.random(in: RawFeed.texts.indices, using: &generator)],
            ]
            events.append(FeedEvent(item: "raw\(index + 1)", content: .row(FeedRow(values: values))))
        }
        return events
    }

    /// Texts that exercise every escape of the field syntax, null and empty values included.
    private static let texts: [String?] = [
        "steady", "a|b", "100%", "#5", "$", "^P[]", "two\r\nlines", "caffè €5", "😀", "", nil, "x,y", "a+b",
    ]
}
