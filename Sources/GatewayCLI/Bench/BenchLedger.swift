internal import NIOCore

/// The events that all streams of a benchmark have received: what an event is compared with.
///
/// The streams read the same source, so that the union of their events is the sequence that each of them has to have
/// from its first live event on. Belongs to one event loop.
final class BenchLedger {
    /// An event as a stream received it.
    struct Event: Equatable {
        /// The place in the sequence, from the event's id.
        var position: UInt64
        /// The number of updates that the event stands for.
        var updates = 1
        /// Part of a snapshot: only its order is looked at, since each stream has a snapshot of its own.
        var isSnapshot = false
        /// The number in the field that has the milliseconds since 1970 at which the event was made.
        var madeAt: Int64?
    }

    struct Progress: Equatable {
        var first: UInt64?
        var last: UInt64?
        var updates = 0
        var isClosed = false
    }

    struct Counts {
        var events = 0
        var bytes = 0
        var conflated = 0
        var outOfOrder = 0
        var doubled = 0
        var gaps = 0
        /// Streams that have ended before the benchmark.
        var closed = 0
    }

    /// The number of streams that have ended before the benchmark, by the reason.
    private(set) var closures: [String: Int] = [:]
    private(set) var progress: [Progress] = []
    private(set) var delays = DelayHistogram()
    var counts = Counts()
    private var arrivals: [UInt64: NIODeadline] = [:]
    /// Whether delays count from the times in the events, not from the first arrival of each.
    private let isTimed: Bool

    /// Smaller or larger numbers are none of milliseconds since 1970, but for instance a price, or seconds.
    private static let times: Range<Int64> = 100_000_000_000..<100_000_000_000_000

    init(isTimed: Bool = false) { self.isTimed = isTimed }

    /// Whether there are events, but none with the time at which the event was made.
    var lacksTimes: Bool { isTimed && delays.count == 0 && !arrivals.isEmpty }

    /// Adds a stream that is open; returns its number.
    func add() -> Int {
        progress.append(Progress())
        return progress.count - 1
    }

    func received(_ event: Event, stream: Int, at now: NIODeadline, milliseconds: Int64) {
        counts.events += 1
        if let last = progress[stream].last, event.position <= last {
            if event.position == last { counts.doubled += 1 } else { counts.outOfOrder += 1 }
            return
        }
        guard !event.isSnapshot else { return }
        progress[stream].last = event.position
        if progress[stream].first == nil {
            progress[stream].first = event.position
            progress[stream].updates = 1
        } else {
            progress[stream].updates = Self.sum(progress[stream].updates, event.updates)
        }
        counts.conflated = Self.sum(counts.conflated, event.updates - 1)
        if !isTimed {
            delays.add(arrivals[event.position].map { now - $0 } ?? .zero)
        } else if let madeAt = event.madeAt, Self.times.contains(madeAt) {
            delays.add(.milliseconds(max(0, milliseconds - madeAt)))
        }
        if arrivals[event.position] == nil { arrivals[event.position] = now }
    }

    /// The greatest number of updates that is counted: an event can tell nearly as many.
    static let mostUpdates = 1_000_000_000_000_000_000

    private static func sum(_ counted: Int, _ more: Int) -> Int {
        counted > mostUpdates - more ? mostUpdates : counted + more
    }

    /// A stream has lost its place: it begins again with its next event, and nothing before counts as a hole.
    func restarted(stream: Int) {
        counts.gaps += 1
        progress[stream] = Progress()
    }

    func streamClosed(_ stream: Int, reason: String) {
        counts.closed += 1
        closures[reason, default: 0] += 1
        progress[stream].isClosed = true
    }

    /// What the streams lack at `end`: updates that other streams have between the first and the last event of a stream, and
    /// open streams without an event that others had for more than a second.
    func losses(at end: NIODeadline) -> (holes: Int, stale: Int) {
        let places = Dictionary(uniqueKeysWithValues: zip(arrivals.keys.sorted(), 0...))
        let due = arrivals.filter { $0.value + .seconds(1) < end }.keys.max()
        var holes = 0
        var stale = 0
        for stream in progress {
            if let due, !stream.isClosed, (stream.last ?? 0) < due { stale += 1 }
            guard let first = stream.first, let last = stream.last else { continue }
            // All positions of events have arrived.
            let expected = places[last, default: 0] - places[first, default: 0] + 1
            holes += max(0, expected - stream.updates)
        }
        return (holes, stale)
    }
}

/// Delays in classes whose bounds grow by an eighth of a power of two: percentiles within 9 % at constant memory.
struct DelayHistogram {
    private var classes = [Int](repeating: 0, count: 8 * 40)
    private(set) var longest = TimeAmount.zero
    private(set) var count = 0

    mutating func add(_ delay: TimeAmount) {
        count += 1
        longest = max(longest, delay)
        let microseconds = UInt64(max(1, delay.nanoseconds / 1000))
        let exponent = UInt64.bitWidth - 1 - microseconds.leadingZeroBitCount
        let fraction = Int(((microseconds << 3) >> UInt64(exponent)) & 7)
        classes[min(classes.count - 1, exponent * 8 + fraction)] += 1
    }

    /// The delay that a share (0 … 1) of the events do not exceed, in milliseconds.
    func percentile(_ share: Double) -> Double {
        var left = Int((Double(count) * share).rounded(.up))
        for (index, members) in classes.enumerated() where members > 0 {
            left -= members
            let bound = Double(UInt64(1) << UInt64(index / 8)) * (1 + Double(index % 8 + 1) / 8) / 1000
            if left <= 0 { return min(bound, Double(longest.nanoseconds) / 1_000_000) }
        }
        return 0
    }
}
