package import SessionCore

/// Time, timers and random numbers as a driver needs them; tests bring their own.
package protocol ClientClock: Sendable {
    /// The present moment; never goes back.
    func now() -> Moment
    /// A random number, 0 ≤ n < 1.
    func random() -> Double
    /// Calls the body once, on any thread, after a time; the handle cancels.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any ClientTimer
}

/// A timer that was set.
package protocol ClientTimer: Sendable {
    /// Forgets it; a firing under way may still come.
    func cancel()
}
