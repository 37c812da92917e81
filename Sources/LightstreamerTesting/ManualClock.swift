public import LightstreamerClient
package import Primitives

/// The time of clients, which passes only when a test says so: pauses between attempts, timeouts, heartbeats.
///
/// The time of a server is another one: `TestServer.advance(by:)`.
public final class ManualClock: Sendable {
    private struct State {
        var now: Int64 = 0
        var last: UInt64 = 0
        var timers: [UInt64: (due: Int64, body: @Sendable () -> Void)] = [:]
        /// The calls that wait for a timer up to a moment.
        var waiters: [(latest: Int64, timer: Awaited<Void>)] = []

        /// Removes the timer that is due first, up to a moment, and moves the time to it.
        mutating func popTimer(until end: Int64) -> (@Sendable () -> Void)? {
            guard let (id, timer) = timers.min(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }),
                timer.due <= end
            else { return nil }
            now = max(now, timer.due)
            timers[id] = nil
            return timer.body
        }
    }

    private let state = RankedMutex(State())
    private let factor: Double

    /// A clock that stands still.
    ///
    /// - Parameter random: The random number for all pauses that a client chooses at random, 0 ≤ `random` < 1; with 0 every such
    ///   pause has its least length.
    public init(random: Double = 0) {
        precondition((0..<1).contains(random), "a random number below 0, or not below 1")
        factor = random
    }

    /// Moves the time to each timer that becomes due, fires the timer, and moves the time to the end.
    ///
    /// Clients handle a timer on their own tasks. What they schedule then is due after the present time of the clock: a pause
    /// that follows another one needs another call.
    public func advance(by duration: Duration) {
        let end = state.withLock { $0.now + max(0, duration.clampedNanoseconds) }
        while let body = state.withLock({ $0.popTimer(until: end) }) { body() }
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Waits until there is a timer that is due within a time; by default, any timer. Returns when the task is cancelled.
    public func timerIsSet(within duration: Duration? = nil) async {
        let waiter = Awaited<Void>()
        let isSet = state.withLock { state in
            let latest = duration.map { state.now + $0.clampedNanoseconds } ?? .max
            if state.timers.values.contains(where: { $0.due <= latest }) { return true }
            state.waiters.append((latest, waiter))
            return false
        }
        if !isSet { try? await waiter.value }
    }

    /// The remaining times of all timers, shortest first.
    public var remainingTimes: [Duration] {
        state.withLock { state in
            state.timers.values.map { $0.due - state.now }.sorted().map { .nanoseconds($0) }
        }
    }

    /// Moves the time without firing a timer.
    package func pass(_ duration: Duration) { state.withLock { $0.now += duration.clampedNanoseconds } }

    /// Waits for a timer, moves the time to the one that is due first, and fires it.
    package func fireNext() async {
        await timerIsSet()
        state.withLock { $0.popTimer(until: .max) }?()
    }
}

extension ManualClock: ClientClock {
    package func now() -> Moment { Moment(nanoseconds: state.withLock { $0.now }) }

    package func random() -> Double { factor }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        // Nobody could know that the clock has to be moved by nothing.
        guard delay > .zero else {
            body()
            return {}
        }
        let (id, reached) = state.withLock { state in
            let due = state.now + delay.clampedNanoseconds
            state.last += 1
            state.timers[state.last] = (due, body)
            let reached = state.waiters.filter { due <= $0.latest }
            state.waiters.removeAll { due <= $0.latest }
            return (state.last, reached)
        }
        for waiter in reached { waiter.timer.end(.success(())) }
        return { self.state.withLock { $0.timers[id] = nil } }
    }

    /// Goes on at once: others have their turn in real time, in which this clock stands still.
    package func pause(_ body: @escaping @Sendable () -> Void) { body() }
}

extension ClientConfiguration {
    /// The defaults, with the time of a manual clock.
    public init(clock: ManualClock) {
        self.init()
        self.clock = clock
    }
}
