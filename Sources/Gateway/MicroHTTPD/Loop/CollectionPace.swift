internal import Primitives

/// Decides when a loop collects events from its feed: at once, or after the flush interval, or once a millisecond in a
/// flood.
///
/// In a flood for a few streams an event follows each collection at once. The loop would be woken for every few events,
/// which costs more than to write them. Events for many streams make no flood: writing them takes longer than the gap.
struct CollectionPace {
    /// An event that follows a collection within this time may belong to a flood.
    private static let gap = Duration.microseconds(200)
    /// The number of such collections from which on they are a flood: more than a burst of updates causes.
    private static let leastCount = 64
    /// The number of such collections that a pause outweighs.
    private static let pauseWeight = 8
    /// The length of a pause that outweighs all of them.
    private static let longPause = Duration.milliseconds(10)
    /// The interval of collections in a flood.
    private static let floodInterval = Duration.milliseconds(1)

    private let flushInterval: Duration
    private var last = Moment.zero
    private var count = 0
    private var isDelaying = false
    /// The earliest time of the next collection.
    private(set) var next = Moment.zero

    /// The pace of a loop with a flush interval.
    init(flushInterval: Duration) { self.flushInterval = flushInterval }

    /// Whether to collect now, when there are events; otherwise at `next`.
    mutating func collects(at now: Moment) -> Bool {
        guard now >= next else { return false }
        if isDelaying {
            isDelaying = false
        } else if now < last + Self.gap {
            count = min(count + 1, Self.leastCount + 1)
            if count > Self.leastCount {
                isDelaying = true
                next = last + Self.floodInterval
                return false
            }
        } else {
            count = now < last + Self.longPause ? max(0, count - Self.pauseWeight) : 0
        }
        last = now
        next = now + flushInterval
        return true
    }
}
