internal import SessionCore
internal import Synchronization

/// Lets through so many a second, and so many at once after a pause.
struct TokenBucket: Sendable {
    /// What became of one request.
    struct Verdict: Sendable, Equatable {
        /// Whether it may pass.
        let isAdmitted: Bool
        /// How many more may pass at once.
        let remaining: Int
        /// How long until the next may pass, if none may now; else until all may.
        let wait: Duration
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

    /// Another rate holds from now on. What was let through stays counted.
    mutating func change(rate: Double, burst: Double, now: Moment) {
        refill(now)
        self.rate = rate
        self.burst = max(1, burst)
        tokens = min(tokens, self.burst)
    }

    /// One request comes.
    mutating func take(now: Moment) -> Verdict {
        refill(now)
        guard tokens >= 1 else {
            return Verdict(isAdmitted: false, remaining: 0, wait: .seconds((1 - tokens) / rate))
        }
        tokens -= 1
        return Verdict(isAdmitted: true, remaining: Int(tokens), wait: .seconds((burst - tokens) / rate))
    }

    /// Whether nothing is known that a fresh bucket would not know.
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

/// A bucket for each name, for so many names at most.
///
/// Buckets that have filled up again are forgotten first. If even so no place is left, all further names share one
/// bucket: whoever invents names gains nothing but company.
final class TokenBuckets: Sendable {
    private struct State {
        var buckets: [String: TokenBucket] = [:]
        var shared: TokenBucket?
        var nextSweep: Moment?
    }

    private let maxBuckets: Int
    private let state = Mutex(State())

    /// An empty table.
    init(maxBuckets: Int = 50_000) { self.maxBuckets = maxBuckets }

    /// One request comes under a name.
    func take(_ name: String, rate: Double, burst: Double, now: Moment) -> TokenBucket.Verdict {
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

    /// Looks through all buckets once a second at most: looking costs more than a request does.
    private func sweepIfFull(_ state: inout State, now: Moment) {
        guard state.buckets.count >= maxBuckets, state.nextSweep.map({ $0 <= now }) ?? true else { return }
        state.buckets = state.buckets.filter { !$0.value.isFull(now: now) }
        state.nextSweep = now + .seconds(1)
    }

    /// The number of names that have a bucket.
    var count: Int { state.withLock { $0.buckets.count } }
}
