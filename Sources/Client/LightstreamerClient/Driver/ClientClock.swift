package import Primitives
internal import SessionCore
internal import TLCPTransports

/// Time, timers and random numbers; tests supply their own.
package protocol ClientClock: Sendable {
    /// The present moment; monotonic.
    func now() -> Moment
    /// A random number, 0 ≤ n < 1.
    func random() -> Double
    /// Calls the body once, on any thread, after a delay. The result cancels the timer; a firing under way may still arrive.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    /// Calls the body when others on the network thread have had their turn.
    func pause(_ body: @escaping @Sendable () -> Void)
}

extension ClientClock {
    /// Calls the body after `DriverPace.pause`: a task that yields is run again before the thread looks at its connections.
    package func pause(_ body: @escaping @Sendable () -> Void) { _ = schedule(after: DriverPace.pause, body) }
}

/// The clock of the network threads, and the random numbers of the system.
struct EventLoopClock: ClientClock {
    private let loop: EventLoops

    init(_ loops: EventLoops) { loop = loops.one() }

    func now() -> Moment { Moment.monotonic() }

    func random() -> Double { Double.random(in: 0..<1) }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        loop.schedule(afterNanoseconds: max(0, delay.clampedNanoseconds), body)
    }
}

/// The timers of a machine. Used only by the driver's task.
///
/// While a delegate answers an authentication challenge, the timers that limit connection attempts and
/// requests are suspended.
final class SessionTimers {
    private struct Running {
        let cancel: @Sendable () -> Void
        let due: Moment
    }

    private let clock: any ClientClock
    private let fire: @Sendable (SessionTimer) -> Void
    private var running: [SessionTimer: Running] = [:]
    /// The remaining time of suspended timers.
    private var suspended: [SessionTimer: Duration] = [:]
    private var pendingChallenges: Set<ObjectIdentifier> = []

    /// Timers over a clock; `fire` is called on any thread.
    init(clock: any ClientClock, fire: @escaping @Sendable (SessionTimer) -> Void) {
        self.clock = clock
        self.fire = fire
    }

    func schedule(_ timer: SessionTimer, after delay: Duration) {
        cancel(timer)
        let isSuspended = !pendingChallenges.isEmpty && timer.purpose.limitsAttempt
        if isSuspended { suspended[timer] = delay } else { start(timer, delay) }
    }

    private func start(_ timer: SessionTimer, _ delay: Duration) {
        let cancel = clock.schedule(after: delay) { [fire] in fire(timer) }
        running[timer] = Running(cancel: cancel, due: clock.now() + delay)
    }

    func cancel(_ timer: SessionTimer) {
        running.removeValue(forKey: timer)?.cancel()
        suspended[timer] = nil
    }

    func fired(_ timer: SessionTimer) { running[timer] = nil }

    /// A challenge waits for its answer.
    func challengeStarted(_ challenge: ObjectIdentifier) {
        pendingChallenges.insert(challenge)
        for (timer, state) in running where timer.purpose.limitsAttempt {
            state.cancel()
            running[timer] = nil
            suspended[timer] = max(.zero, state.due - clock.now())
        }
    }

    /// A challenge was answered; nothing changes if it was withdrawn.
    func challengeEnded(_ challenge: ObjectIdentifier) {
        if pendingChallenges.remove(challenge) != nil { resumeWithoutChallenges() }
    }

    /// The connections that waited for answers are gone.
    func challengesWithdrawn() {
        pendingChallenges = []
        resumeWithoutChallenges()
    }

    private func resumeWithoutChallenges() {
        guard pendingChallenges.isEmpty else { return }
        let resumed = suspended
        suspended = [:]
        for (timer, remaining) in resumed { start(timer, remaining) }
    }

    func cancelAll() {
        for state in running.values { state.cancel() }
        running = [:]
        suspended = [:]
    }
}
