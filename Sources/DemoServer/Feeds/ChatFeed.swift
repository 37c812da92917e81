internal import Primitives

/// `CHAT_ROOM`: the list `chat_room` with the texts that clients sent as `CHAT|text`.
struct ChatFeed: Feed {
    let fields = ["raw_timestamp", "message", "IP"]

    private static let itemName = "chat_room"
    private static let remembered = 30

    private let clockStart: Int64
    private var lines: [FeedRow]

    init(clockStart: Int64) {
        self.clockStart = clockStart
        lines = [FeedRow(values: [String(clockStart), "Welcome to the demo chat room", "127.0.0.1"])]
    }

    func item(named name: String) -> FeedItem? { name == ChatFeed.itemName ? FeedItem(mode: .distinct) : nil }

    func snapshot(of name: String) -> FeedSnapshot { FeedSnapshot(rows: lines) }

    mutating func received(_ text: String, from address: String, at now: Duration) -> [FeedEvent] {
        let line = FeedRow(values: [String(clockStart &+ Int64(now.wholeMilliseconds)), text, address])
        lines.append(line)
        if lines.count > ChatFeed.remembered { lines.removeFirst() }
        return [FeedEvent(item: ChatFeed.itemName, content: .row(line))]
    }
}

/// The time of day in the format of the feeds.
enum ClockText {
    /// `HH:MM:SS`, in UTC. `clockStart`: milliseconds since 1970 at the server's time zero.
    static func timeOfDay(at time: Duration, clockStart: Int64) -> String {
        let seconds = (clockStart &+ Int64(time.wholeMilliseconds)) / 1_000 % 86_400
        return "\(twoDigits(seconds / 3_600)):\(twoDigits(seconds / 60 % 60)):\(twoDigits(seconds % 60))"
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
