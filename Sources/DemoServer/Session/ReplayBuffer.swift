/// The data notifications that were sent and may have to be sent again, each with its exact line.
struct ReplayBuffer: Sendable {
    private struct Entry: Sendable {
        var line: [UInt8]
        var sentAt: Duration
    }

    /// Number of data notifications committed since the session began.
    private(set) var progressive = 0

    private var entries = Fifo<Entry>()
    private var bytes = 0
    private let maxBytes: Int
    private let maxAge: Duration

    /// An empty log.
    ///
    /// - Parameters:
    ///   - maxBytes: Bytes of lines that are kept.
    ///   - maxAge: Time for which a line is kept.
    init(maxBytes: Int, maxAge: Duration) {
        self.maxBytes = maxBytes
        self.maxAge = maxAge
    }

    /// Numbers a line, complete with CR-LF, and remembers it.
    mutating func append(_ line: [UInt8], at now: Duration) {
        progressive += 1
        bytes += line.count
        entries.append(Entry(line: line, sentAt: now))
        prune(at: now)
    }

    /// The peer has got everything but the last `count` notifications; the others will not have to be sent again.
    mutating func confirm(allBut count: Int) {
        while entries.count > count, let entry = entries.popFirst() { bytes -= entry.line.count }
    }

    /// The number of the oldest notification still kept, less one: the earliest point that can be restarted from.
    var earliestRestart: Int { progressive - entries.count }

    /// The lines that follow the first `count` notifications; nil if some are gone or `count` were never sent.
    func lines(after count: Int) -> [[UInt8]]? {
        guard count >= earliestRestart, count <= progressive else { return nil }
        return (count - earliestRestart..<entries.count).compactMap { offset in
            entries[position: entries.firstPosition + offset]?.line
        }
    }

    /// The last line that was numbered.
    var lastLine: [UInt8]? { entries[position: entries.endPosition - 1]?.line }

    private mutating func prune(at now: Duration) {
        while let oldest = entries.first, bytes > maxBytes || oldest.sentAt + maxAge < now {
            bytes -= oldest.line.count
            _ = entries.popFirst()
        }
    }
}
