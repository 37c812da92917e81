internal import SessionCore

/// The timers that a machine asked for. Used by the driver's task alone.
final class SessionTimers {
    private let clock: any ClientClock
    private let fire: @Sendable (TimerID) -> Void
    private var timers: [TimerID: any ClientTimer] = [:]

    /// Timers over a clock; `fire` is called on any thread.
    init(clock: any ClientClock, fire: @escaping @Sendable (TimerID) -> Void) {
        self.clock = clock
        self.fire = fire
    }

    func schedule(_ timer: TimerID, after delay: Duration) {
        timers[timer]?.cancel()
        timers[timer] = clock.schedule(after: delay) { [fire] in fire(timer) }
    }

    func cancel(_ timer: TimerID) { timers.removeValue(forKey: timer)?.cancel() }

    /// Forgets a timer that fired.
    func fired(_ timer: TimerID) { timers[timer] = nil }

    func cancelAll() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
    }
}
