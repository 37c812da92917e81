internal import JSONText
internal import NIOCore

/// The events that the streams of a benchmark received, and the events that they lack.
struct BenchReport: Sendable {
    /// The number of streams that opened.
    let streams: Int
    /// The number of streams that did not open, by the reason.
    let refusals: [String: Int]
    /// The number of streams that opened and did not stay open, by the reason.
    let closures: [String: Int]
    let seconds: Double
    /// The counts since the start; the counts of faults, since the first stream.
    let counts: BenchLedger.Counts
    let holes: Int
    let stale: Int
    /// Whether no event has the time from which delays count.
    let lacksTimes: Bool
    /// Delays in milliseconds: the median, the 99th percentile, the longest.
    let delays: [Double]

    /// - Parameters:
    ///   - start: When all streams were open.
    ///   - before: The counts at that time.
    init(
        _ ledger: BenchLedger,
        _ connections: BenchRun.Connections,
        since start: NIODeadline,
        before: BenchLedger.Counts
    ) {
        let now = NIODeadline.now()
        var counts = ledger.counts
        counts.events -= before.events
        counts.bytes -= before.bytes
        self.counts = counts
        (holes, stale) = ledger.losses(at: now)
        streams = connections.open.count
        (refusals, closures) = (connections.refusals, ledger.closures)
        seconds = max(0.001, Double((now - start).nanoseconds) / 1e9)
        lacksTimes = ledger.lacksTimes
        delays = [
            ledger.delays.percentile(0.5), ledger.delays.percentile(0.99),
            Double(ledger.delays.longest.nanoseconds) / 1_000_000,
        ]
    }

    /// All streams opened and stayed open, and had every update once, in order.
    var isCorrect: Bool {
        let faults = counts.closed + counts.doubled + counts.outOfOrder + holes + stale
        return refusals.isEmpty && faults == 0 && streams > 0
    }

    private var eventsPerSecond: Double { Double(counts.events) / seconds }

    private var bytesPerEvent: Double { counts.events > 0 ? Double(counts.bytes) / Double(counts.events) : 0 }

    /// The figures with their names, in the order of the output.
    private var figures: [(name: String, value: Double, isCount: Bool)] {
        [
            ("streams", Double(streams), true), ("refused", Double(refusals.values.reduce(0, +)), true),
            ("closed", Double(counts.closed), true), ("seconds", seconds, false),
            ("events", Double(counts.events), true), ("eventsPerSecond", eventsPerSecond, true),
            ("bytes", Double(counts.bytes), true), ("bytesPerEvent", bytesPerEvent, false),
            ("delayMedian", delays[0], false), ("delay99", delays[1], false), ("delayLongest", delays[2], false),
            ("conflated", Double(counts.conflated), true), ("gaps", Double(counts.gaps), true),
            ("holes", Double(holes), true), ("doubled", Double(counts.doubled), true),
            ("outOfOrder", Double(counts.outOfOrder), true), ("stale", Double(stale), true),
        ]
    }

    /// One line of JSON, delays in milliseconds, refusals and closures by reason.
    var json: String {
        "{" + figures.map { "\"\($0.name)\":\(Self.text($0.value, isCount: $0.isCount))" }.joined(separator: ",")
            + ",\"closures\":\(Self.object(closures)),\"refusals\":\(Self.object(refusals))}\n"
    }

    /// The number of streams for each reason, as an object.
    private static func object(_ reasons: [String: Int]) -> String {
        var json = JSONBytes()
        json.beginObject()
        for (reason, streams) in reasons.sorted(by: { $0.key < $1.key }) {
            json.key(reason)
            json.number(streams)
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    var table: String {
        let refused = Self.list(refusals).map { ", " + $0 }.joined()
        let closed = Self.list(closures).map { "closed    \($0)\n" }.joined()
        let rate = Self.text(eventsPerSecond, isCount: true)
        let size = Self.text(bytesPerEvent, isCount: false)
        let times = delays.map { Self.text($0, isCount: false) }
        return """
            streams   \(streams) open, \(counts.closed) closed\(refused)
            events    \(counts.events) in \(Self.text(seconds, isCount: false)) s, \(rate) a second, \(size) bytes each
            delay     median \(times[0]) ms, 99 % \(times[1]) ms, longest \(times[2]) ms
            order     \(holes) holes, \(counts.doubled) doubled, \(counts.outOfOrder) out of order, \
            \(counts.conflated) conflated, \(counts.gaps) gaps
            stale     \(stale) streams
            \(closed)
            """
    }

    private static func list(_ reasons: [String: Int]) -> [String] {
        reasons.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key.printable)" }
    }

    private static func text(_ value: Double, isCount: Bool) -> String {
        isCount ? "\(Int(value))" : "\((value * 100).rounded() / 100)"
    }
}
