internal import JSONText
internal import NIOCore

/// The events that the streams of a benchmark received, and the events that they lack.
struct BenchReport: Sendable {
    /// Figures that grow while streams are read.
    struct Totals: Sendable {
        let events: Int
        let bytes: Int

        init(_ ledger: BenchLedger) {
            events = ledger.events
            bytes = ledger.bytes
        }
    }

    let streams: Int
    let refusals: [String: Int]
    let closed: Int
    let seconds: Double
    let events: Int
    let bytes: Int
    let holes: Int
    let doubled: Int
    let outOfOrder: Int
    let conflated: Int
    let gaps: Int
    let stale: Int
    /// Whether no event has the time from which delays count.
    let lacksTimes: Bool
    /// Delays in milliseconds: the median, the 99th percentile, the longest.
    let delays: [Double]

    init(_ ledger: BenchLedger, _ connections: BenchRun.Connections, since start: NIODeadline, before: Totals) {
        let now = NIODeadline.now()
        let after = Totals(ledger)
        let losses = ledger.losses(at: now)
        streams = connections.open.count
        refusals = connections.refusals
        closed = ledger.closed
        seconds = max(0.001, Double((now - start).nanoseconds) / 1e9)
        events = after.events - before.events
        bytes = after.bytes - before.bytes
        holes = losses.holes
        stale = losses.stale
        doubled = ledger.doubled
        outOfOrder = ledger.outOfOrder
        conflated = ledger.conflated
        gaps = ledger.gaps
        lacksTimes = ledger.lacksTimes
        delays = [
            ledger.delays.percentile(0.5), ledger.delays.percentile(0.99),
            Double(ledger.delays.longest.nanoseconds) / 1_000_000,
        ]
    }

    /// All streams opened and stayed open, and had every update once, in order.
    var isCorrect: Bool {
        refusals.isEmpty && closed == 0 && holes == 0 && doubled == 0 && outOfOrder == 0 && stale == 0 && streams > 0
    }

    /// The figures with their names, in the order of the output.
    private var figures: [(name: String, value: Double, isCount: Bool)] {
        [
            ("streams", Double(streams), true), ("refused", Double(refusals.values.reduce(0, +)), true),
            ("closed", Double(closed), true), ("seconds", seconds, false), ("events", Double(events), true),
            ("eventsPerSecond", Double(events) / seconds, true), ("bytes", Double(bytes), true),
            ("bytesPerEvent", events > 0 ? Double(bytes) / Double(events) : 0, false),
            ("delayMedian", delays[0], false), ("delay99", delays[1], false), ("delayLongest", delays[2], false),
            ("conflated", Double(conflated), true), ("gaps", Double(gaps), true), ("holes", Double(holes), true),
            ("doubled", Double(doubled), true), ("outOfOrder", Double(outOfOrder), true),
            ("stale", Double(stale), true),
        ]
    }

    /// One line of JSON, delays in milliseconds, refusals by reason.
    var json: String {
        "{" + figures.map { "\"\($0.name)\":\(Self.text($0.value, isCount: $0.isCount))" }.joined(separator: ",")
            + ",\"refusals\":\(reasons)}\n"
    }

    /// The number of refused streams for each reason, as an object.
    private var reasons: String {
        var json = JSONBytes()
        json.beginObject()
        for (reason, streams) in refusals.sorted(by: { $0.key < $1.key }) {
            json.key(reason)
            json.number(streams)
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    var table: String {
        let refused = refusals.sorted { $0.key < $1.key }.map { ", \($0.value) × \($0.key.printable)" }.joined()
        let rate = Self.text(Double(events) / seconds, isCount: true)
        let size = Self.text(events > 0 ? Double(bytes) / Double(events) : 0, isCount: false)
        let times = delays.map { Self.text($0, isCount: false) }
        return """
            streams   \(streams) open, \(closed) closed\(refused)
            events    \(events) in \(Self.text(seconds, isCount: false)) s, \(rate) a second, \(size) bytes each
            delay     median \(times[0]) ms, 99 % \(times[1]) ms, longest \(times[2]) ms
            order     \(holes) holes, \(doubled) doubled, \(outOfOrder) out of order, \(conflated) conflated, \(gaps) gaps
            stale     \(stale) streams

            """
    }

    private static func text(_ value: Double, isCount: Bool) -> String {
        isCount ? "\(Int(value))" : "\((value * 100).rounded() / 100)"
    }
}
