internal import SessionCore

/// When a stream has to say something though nothing new is there, and when it may not although there is.
struct StreamClock {
    private let heartbeat: Duration
    private let interval: Duration?
    private var sentAt: Moment
    private var updatesFrom: Moment
    private var wakeAt: Moment

    /// A stream that begins now; the offset, 0 ≤ offset < 1, spreads the heartbeats of streams that begin together.
    init(heartbeat: Duration, maxFrequency: Double?, now: Moment, offset: Double) {
        self.heartbeat = heartbeat
        interval = maxFrequency.map { .nanoseconds(Int64(max(1, min(1e18, 1e9 / $0)))) }
        sentAt = now
        updatesFrom = now
        wakeAt = now + heartbeat * (1 - offset / 2)
    }

    /// Whether updates may go out; then the next may not before the interval is over.
    func allowsUpdates(at now: Moment) -> Bool { interval == nil || now >= updatesFrom }

    /// Updates go out.
    mutating func updatesSent(at now: Moment) {
        if let interval { updatesFrom = now + interval }
    }

    /// Something went out.
    mutating func sent(at now: Moment) { sentAt = max(sentAt, now) }

    /// Whether it is time for a heartbeat.
    func isSilent(at now: Moment) -> Bool { now >= wakeAt && now - sentAt >= heartbeat / 2 }

    /// When to look at the stream again. Mostly the moment told last time: a stream that says something often does not
    /// have its timer set as often.
    mutating func nextVisit(after now: Moment, isHolding: Bool) -> Moment {
        if wakeAt <= now { wakeAt = max(sentAt, now - heartbeat / 2) + heartbeat }
        return isHolding ? min(wakeAt, updatesFrom) : wakeAt
    }
}
