internal import SessionCore
package import StreamIO
internal import TLCPTransports

/// Time, timers and random numbers; tests supply their own.
package protocol ClientClock: Sendable {
    /// The present moment; monotonic.
    func now() -> Moment
    /// A random number, 0 ≤ n < 1.
    func random() -> Double
    /// Calls the body once, on any thread, after a delay; the result cancels it.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any ClientTimer
}

/// A scheduled timer.
package protocol ClientTimer: Sendable {
    /// Cancels it; a firing under way may still arrive.
    func cancel()
}

/// The clock of the network threads, and the random numbers of the system.
struct EventLoopClock: ClientClock {
    private let loop: EventLoops.Timers

    init(_ loops: EventLoops) { loop = loops.timers() }

    func now() -> Moment { Moment(nanoseconds: Int64(clamping: EventLoops.uptimeNanoseconds)) }

    func random() -> Double { Double.random(in: 0..<1) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any ClientTimer {
        ScheduledTimer(cancellation: loop.schedule(afterNanoseconds: max(0, delay.clampedNanoseconds), body))
    }

    private struct ScheduledTimer: ClientTimer {
        let cancellation: @Sendable () -> Void

        func cancel() { cancellation() }
    }
}

/// The timers of a machine. Used only by the driver's task.
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

    /// Removes a timer that fired.
    func fired(_ timer: TimerID) { timers[timer] = nil }

    func cancelAll() {
        for timer in timers.values { timer.cancel() }
        timers = [:]
    }
}
