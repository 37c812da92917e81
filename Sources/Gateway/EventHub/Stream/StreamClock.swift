internal import SessionCore

/// The times of a stream: when a heartbeat is due, and when a frequency limit allows the next updates.
struct StreamClock {
    private let heartbeat: Duration
    private let interval: Duration?
    private var sentAt: Moment
    private var updatesFrom: Moment
    private var wakeAt: Moment

    /// The clock of a stream that begins now; the offset, 0 ≤ offset < 1, spreads the heartbeats of streams that
    /// begin at the same time.
    init(heartbeat: Duration, maxFrequency: Double?, now: Moment, offset: Double) {
        self.heartbeat = heartbeat
        interval = maxFrequency.map { .nanoseconds(Int64(max(1, min(1e18, 1e9 / $0)))) }
        sentAt = now
        updatesFrom = now
        wakeAt = now + heartbeat * (1 - offset / 2)
    }

    /// Whether updates may be sent.
    func allowsUpdates(at now: Moment) -> Bool { interval == nil || now >= updatesFrom }

    /// Updates were sent: the next ones may follow after the interval.
    mutating func updatesSent(at now: Moment) {
        if let interval { updatesFrom = now + interval }
    }

    /// Bytes were sent.
    mutating func sent(at now: Moment) { sentAt = max(sentAt, now) }

    /// Whether it is time for a heartbeat.
    func isSilent(at now: Moment) -> Bool { now >= wakeAt && now - sentAt >= heartbeat / 2 }

    /// When to visit the stream again. Usually the moment returned last time, so that a busy stream does not reset its
    /// timer at every event.
    mutating func nextVisit(after now: Moment, isHolding: Bool) -> Moment {
        if wakeAt <= now { wakeAt = max(sentAt, now - heartbeat / 2) + heartbeat }
        return isHolding ? min(wakeAt, updatesFrom) : wakeAt
    }
}
