internal import SessionCore
internal import Synchronization

@testable internal import LightstreamerClient

/// A manual clock, with 0 as the only random number.
final class SteppedClock: ClientClock {
    private struct State {
        var now: Int64 = 0
        var next: UInt64 = 0
        var timers: [UInt64: (due: Int64, body: @Sendable () -> Void)] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func now() -> Moment { Moment(nanoseconds: state.withLock { $0.now }) }

    func random() -> Double { 0 }

    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> any ClientTimer {
        let (id, waiters) = state.withLock { state in
            state.next += 1
            state.timers[state.next] = (state.now + delay.clampedNanoseconds, body)
            defer { state.waiters = [] }
            return (state.next, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return Handle(clock: self, id: id)
    }

    /// Moves the time without firing a timer.
    func pass(_ duration: Duration) { state.withLock { $0.now += duration.clampedNanoseconds } }

    /// The remaining times of all timers, in order.
    var remainingTimes: [Duration] {
        state.withLock { state in
            state.timers.values.map { $0.due - state.now }.sorted().map { .nanoseconds($0) }
        }
    }

    /// Waits until a timer is set.
    func timerIsSet() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if state.timers.isEmpty { state.waiters.append(continuation) }
                return !state.timers.isEmpty
            }
            if isSet { continuation.resume() }
        }
    }

    /// Moves the time to the timer that is due first, and fires it.
    func fireNext() async {
        await timerIsSet()
        let body = state.withLock { state -> (@Sendable () -> Void)? in
            guard let (id, timer) = state.timers.min(by: { $0.value.due < $1.value.due }) else { return nil }
            state.now = max(state.now, timer.due)
            state.timers[id] = nil
            return timer.body
        }
        body?()
    }

    private struct Handle: ClientTimer {
        let clock: SteppedClock
        let id: UInt64

        func cancel() { clock.state.withLock { $0.timers[id] = nil } }
    }
}
