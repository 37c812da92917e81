internal import DequeModule

/// The lines of sent data notifications, kept for recovery.
struct ReplayBuffer: Sendable {
    private struct Entry: Sendable {
        var line: [UInt8]
        var sentAt: Duration
    }

    /// Number of data notifications committed since the session began.
    private(set) var progressive = 0

    private var entries = Deque<Entry>()
    private var bytes = 0
    private let maxBytes: Int
    private let maxAge: Duration

    /// An empty buffer. Lines are kept up to a size of all and for a time.
    init(maxBytes: Int, maxAge: Duration) {
        self.maxBytes = maxBytes
        self.maxAge = maxAge
    }

    /// Numbers and stores a line, complete with CR-LF.
    mutating func append(_ line: [UInt8], at now: Duration) {
        progressive += 1
        bytes += line.count
        entries.append(Entry(line: line, sentAt: now))
        prune(at: now)
    }

    /// Removes all but the last `count` notifications, which the client has received.
    mutating func confirm(allBut count: Int) {
        while entries.count > count, let entry = entries.popFirst() { bytes -= entry.line.count }
    }

    /// The number of notifications before the oldest one that is kept: the earliest point of a recovery.
    var earliestRestart: Int { progressive - entries.count }

    /// The lines after the first `count` notifications; nil if some are not kept, or fewer were sent.
    func lines(after count: Int) -> [[UInt8]]? {
        guard count >= earliestRestart, count <= progressive else { return nil }
        return entries.dropFirst(count - earliestRestart).map(\.line)
    }

    var lastLine: [UInt8]? { entries.last?.line }

    private mutating func prune(at now: Duration) {
        while let oldest = entries.first, bytes > maxBytes || oldest.sentAt + maxAge < now {
            bytes -= oldest.line.count
            _ = entries.popFirst()
        }
    }
}
