internal import Primitives

/// Decides when a loop collects events from its feed: at once, or after the flush interval, or at longer intervals in a
/// flood.
///
/// In a flood an event follows each collection at once. For a few streams, the loop would be woken for every few events,
/// which costs more than to write them. For many streams, it would write all the time. So it collects once a millisecond, or
/// once in four times the time that its writes take, so that most of the time is left for other work; but at least every
/// 50 ms.
///
///     events       · · · · · · · · · · · · · · · ·
///     keeping up   ▌   ▌   ▌   ▌                      one or two in a write, half of the time is for writes
///     flood        ▌               ▌                  many in a write
struct CollectionPace {
    // In nanoseconds: the conversion of a `Duration` is a division of 128 bits.

    /// The least value of `gap`.
    private static let gap: Int64 = 200_000
    /// The number of such collections from which on they are a flood: more than a burst of updates causes.
    private static let leastCount = 64
    /// The number of such collections that a pause outweighs.
    private static let pauseWeight = 8
    /// The length of a pause that outweighs all of them.
    private static let longPause: Int64 = 10_000_000
    /// The least and the greatest interval of collections in a flood.
    private static let floodInterval: (least: Int64, most: Int64) = (1_000_000, 50_000_000)
    /// The interval in a flood, and the gap, in multiples of the time that writes take.
    private static let writesPerInterval: (flood: Int64, gap: Int64) = (4, 2)

    private let flushInterval: Int64
    /// An event that follows a collection within this time may belong to a flood.
    private var gap = CollectionPace.gap
    private var floodInterval = CollectionPace.floodInterval.least
    private var last = Moment.zero
    private var count = 0
    private var isDelaying = false
    /// The earliest time of the next collection.
    private(set) var next = Moment.zero

    init(flushInterval: Duration) { self.flushInterval = flushInterval.clampedNanoseconds }

    /// The writes of the last collection have ended.
    mutating func wrote(until end: Moment) {
        let writing = min(max(0, end.nanoseconds &- last.nanoseconds), Self.floodInterval.most)
        gap = max(Self.gap, min(writing * Self.writesPerInterval.gap, Self.floodInterval.most))
        floodInterval = max(
            Self.floodInterval.least,
            min(writing * Self.writesPerInterval.flood, Self.floodInterval.most)
        )
    }

    /// Whether to collect now, when there are events; otherwise at `next`.
    mutating func collects(at now: Moment) -> Bool {
        guard now >= next else { return false }
        let pause = now.nanoseconds &- last.nanoseconds
        if isDelaying {
            isDelaying = false
        } else if pause < gap {
            count = min(count + 1, Self.leastCount + 1)
            if count > Self.leastCount {
                isDelaying = true
                next = last.advanced(by: floodInterval)
                guard now >= next else { return false }
                isDelaying = false
            }
        } else {
            count = pause < max(Self.longPause, floodInterval) ? max(0, count - Self.pauseWeight) : 0
        }
        last = now
        next = now.advanced(by: flushInterval)
        return true
    }
}
