/// Supervises a streaming connection: silence for the keepalive interval and the stalled timeout makes it stalled,
/// further silence for the reconnect timeout makes it lost. `SYNC` lines show a client that reads too slowly.
///
/// A line costs one assignment: the running timer is left alone, and looks at the time of the last line when it fires.
struct StreamMonitor {
    enum TimerResult: Equatable {
        /// Check again after this time.
        case wait(Duration)
        /// The connection is stalled; check again after this time.
        case stalled(Duration)
        /// The connection is to be given up.
        case lost
    }

    /// The event that the timer waits for.
    enum Phase: Equatable {
        case off
        case keepalive
        case quiet(since: Moment)
        case stalled
    }

    private(set) var phase = Phase.off
    private var keepalive = Duration.zero
    private var slowing = SlowingDetector()
    /// When the last line arrived.
    var lastLine = Moment.zero

    /// A streaming connection was established. Returns the time until the first check; nil if the server promises no
    /// keepalive, so that there is no supervision.
    mutating func begin(keepalive: Duration, at now: Moment) -> Duration? {
        slowing.begin()
        guard keepalive > .zero else {
            phase = .off
            return nil
        }
        self.keepalive = keepalive
        lastLine = now
        phase = .keepalive
        return keepalive
    }

    /// The connection is no longer used.
    mutating func end() { phase = .off }

    /// A line has ended the stall. Returns the time until the next check.
    mutating func stallEnded() -> Duration {
        phase = .keepalive
        return keepalive
    }

    /// A streaming connection is requested, with `SYNC` lines or without.
    mutating func requested(slowing isRequested: Bool) { slowing.requested(isRequested) }

    /// `SYNC`. True: the client is too slow.
    mutating func synchronised(serverSeconds: Int, at now: Moment) -> Bool {
        slowing.synchronised(serverSeconds: serverSeconds, at: now)
    }

    mutating func timerFired(at now: Moment, stalledTimeout: Duration, reconnectTimeout: Duration) -> TimerResult? {
        let silence = now - lastLine
        switch phase {
        case .off: return nil
        case .keepalive: return keepaliveExpired(silence: silence, at: now, stalledTimeout: stalledTimeout)
        case .quiet(let since):
            // A line of the moment at which the timer found silence came after the timer.
            guard lastLine >= since else {
                phase = .stalled
                return .stalled(reconnectTimeout)
            }
            return keepaliveExpired(silence: silence, at: now, stalledTimeout: stalledTimeout)
        case .stalled:
            phase = .off
            return .lost
        }
    }

    private mutating func keepaliveExpired(silence: Duration, at now: Moment, stalledTimeout: Duration) -> TimerResult {
        guard silence >= keepalive else {
            phase = .keepalive
            return .wait(keepalive - silence)
        }
        phase = .quiet(since: now)
        return .wait(stalledTimeout.remaining(after: silence - keepalive))
    }
}
