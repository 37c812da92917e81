/// The reverse heartbeat: when the client must send something to prove that it is alive.
///
/// The interval declared with a bind can be shortened later by the option, but neither lengthened nor switched off
/// before the next bind. The timer `heartbeat` is set here alone.
struct ReverseHeartbeat {
    private var option: Duration
    private var declared = Duration.zero
    /// Whether there is a connection that heartbeats belong to.
    private(set) var isActive = false
    /// The time from one request to the heartbeat that follows; nil: no heartbeats are sent.
    private(set) var interval: Duration?
    /// When the timer fires, if it is running.
    private var due = Moment.zero
    /// When the last request was sent, before the first one when the first connection was established; nil without a session.
    private var lastRequest: Moment?

    /// No connection; `option` is the interval of the option, zero: none.
    init(option: Duration = .zero) { self.option = option }

    /// The interval of an option in seconds. The unit of the protocol is the least one: a shorter interval would be declared
    /// as 0, and heartbeats would follow each other without a pause.
    static func interval(optionSeconds seconds: Double) -> Duration {
        seconds > 0 ? max(.milliseconds(1), Duration(optionSeconds: seconds)) : .zero
    }

    /// The option was set to this interval; zero: none. A running timer is stopped or shortened, but not extended.
    mutating func optionChanged(to interval: Duration, at now: Moment, _ out: inout SessionOutput) {
        option = interval
        decide()
        guard let interval = self.interval else { return out.stopTimer(.heartbeat) }
        if !out.isRunning(.heartbeat) || now + interval < due { requestSent(at: now, &out) }
    }

    /// A bind is being sent that declares this interval; zero: none.
    mutating func declare(_ interval: Duration) {
        declared = interval
        decide()
    }

    /// The connection that heartbeats belong to is established. The time since the last request on a former one counts.
    mutating func begin(at now: Moment, _ out: inout SessionOutput) {
        isActive = true
        decide()
        start(since: lastRequest ?? now, at: now, &out)
    }

    /// A request was sent to the server: the next heartbeat is due an interval from now.
    mutating func requestSent(at now: Moment, _ out: inout SessionOutput) { start(since: now, at: now, &out) }

    private mutating func start(since last: Moment, at now: Moment, _ out: inout SessionOutput) {
        lastRequest = last
        guard let interval else { return }
        due = max(now, last + interval)
        out.startTimer(.heartbeat, after: due - now)
    }

    mutating func sessionEnded() { lastRequest = nil }

    /// The connection is no longer used.
    mutating func end(_ out: inout SessionOutput) {
        isActive = false
        declared = .zero
        decide()
        out.stopTimer(.heartbeat)
    }

    private mutating func decide() {
        interval = isActive ? [option, declared].filter { $0 > .zero }.min() : nil
    }
}
