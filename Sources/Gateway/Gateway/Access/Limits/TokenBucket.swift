internal import Primitives

/// A token bucket: admits `rate` requests a second, and `burst` at once after a pause.
package struct TokenBucket: Sendable {
    package struct Decision: Sendable, Equatable {
        let isAdmitted: Bool
        /// How many more requests are admitted at once.
        let remaining: Int
        /// The time until the next request is admitted, if none is now; otherwise until the bucket is full.
        let wait: Duration

        package init(isAdmitted: Bool, remaining: Int, wait: Duration) {
            self.isAdmitted = isAdmitted
            self.remaining = remaining
            self.wait = wait
        }
    }

    private var rate: Double
    private var burst: Double
    private var tokens: Double
    private var updatedAt: Moment

    /// A full bucket. `rate` is greater than 0, `burst` at least 1.
    init(rate: Double, burst: Double, now: Moment) {
        self.rate = rate
        self.burst = max(1, burst)
        tokens = self.burst
        updatedAt = now
    }

    /// Changes the rate and the burst. Admitted requests stay counted.
    mutating func change(rate: Double, burst: Double, now: Moment) {
        refill(now)
        self.rate = rate
        self.burst = max(1, burst)
        tokens = min(tokens, self.burst)
    }

    mutating func take(now: Moment) -> Decision {
        refill(now)
        guard tokens >= 1 else { return Decision(isAdmitted: false, remaining: 0, wait: .seconds((1 - tokens) / rate)) }
        tokens -= 1
        return Decision(isAdmitted: true, remaining: Int(tokens), wait: .seconds((burst - tokens) / rate))
    }

    /// Whether the bucket is full, as a new one is.
    func isFull(now: Moment) -> Bool {
        var bucket = self
        bucket.refill(now)
        return bucket.tokens >= bucket.burst
    }

    private mutating func refill(_ now: Moment) {
        let seconds = max(0, (now - updatedAt) / .seconds(1))
        tokens = min(burst, tokens + seconds * rate)
        updatedAt = max(now, updatedAt)
    }
}

/// A token bucket for each name, for a bounded number of names.
///
/// Full buckets are removed when the table is full. If no place is left, all further names share one bucket.
final class TokenBuckets: Sendable {
    struct State {
        var buckets: [String: TokenBucket] = [:]
        var shared: TokenBucket?
        var nextSweep: Moment?
    }

    private let maxBuckets: Int
    let state = RankedMutex(State())

    init(maxBuckets: Int = 50_000) { self.maxBuckets = maxBuckets }

    /// Decides on one request of a name.
    func take(_ name: String, rate: Double, burst: Double, now: Moment) -> TokenBucket.Decision {
        state.withLock { state in
            if var bucket = state.buckets[name] {
                bucket.change(rate: rate, burst: burst, now: now)
                let verdict = bucket.take(now: now)
                state.buckets[name] = bucket
                return verdict
            }
            sweepIfFull(&state, now: now)
            var bucket = TokenBucket(rate: rate, burst: burst, now: now)
            if state.buckets.count >= maxBuckets {
                bucket = state.shared ?? bucket
                defer { state.shared = bucket }
                return bucket.take(now: now)
            }
            let verdict = bucket.take(now: now)
            state.buckets[name] = bucket
            return verdict
        }
    }

    /// Removes full buckets, at most once a second: the search costs more than a request.
    private func sweepIfFull(_ state: inout State, now: Moment) {
        guard state.buckets.count >= maxBuckets, state.nextSweep.map({ $0 <= now }) ?? true else { return }
        state.buckets = state.buckets.filter { !$0.value.isFull(now: now) }
        state.nextSweep = now + .seconds(1)
    }
}
