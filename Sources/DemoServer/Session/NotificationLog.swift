internal import DequeModule

/// The data notifications of a session as lines: queued ones without a number, then numbered ones, kept for recovery.
struct NotificationLog: Sendable {
    private struct Entry: Sendable {
        var line: [UInt8]
        var sentAt: Duration
    }

    /// Number of data notifications committed since the session began.
    private(set) var progressive = 0

    /// Numbered notifications that are not written yet: the last ones, or those that a recovery repeats.
    private(set) var unsent = Deque<[UInt8]>()
    /// The size of the queued notifications.
    private(set) var queuedBytes = 0
    private var queued = Deque<[UInt8]>()
    private var entries = Deque<Entry>()
    private var bytes = 0
    private let maxBytes: Int
    private let maxAge: Duration

    /// An empty log. Lines are kept up to a size of all and for a time.
    init(maxBytes: Int, maxAge: Duration) {
        self.maxBytes = maxBytes
        self.maxAge = maxAge
    }

    /// Whether no notification waits to be written.
    var isWritten: Bool { unsent.isEmpty && queued.isEmpty }

    mutating func queue(_ line: [UInt8]) {
        queuedBytes += line.count
        queued.append(line)
    }

    /// Removes and returns the first of the queued notifications.
    mutating func takeQueued() -> [UInt8]? {
        queuedBytes -= queued.first?.count ?? 0
        return queued.popFirst()
    }

    /// Numbers and stores a line, complete with CR-LF, to be written.
    mutating func append(_ line: [UInt8], at now: Duration) {
        progressive += 1
        bytes += line.count
        entries.append(Entry(line: line, sentAt: now))
        unsent.append(line)
        prune(at: now)
    }

    /// The first of the unsent notifications is being written.
    mutating func written() { _ = unsent.popFirst() }

    /// Lines of `lines(after:)` are to be written again.
    mutating func resend(_ lines: [[UInt8]]) { unsent = Deque(lines) }

    /// The client has received all notifications that were written.
    mutating func confirm() {
        while entries.count > unsent.count, let entry = entries.popFirst() { bytes -= entry.line.count }
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
