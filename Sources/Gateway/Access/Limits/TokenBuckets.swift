internal import SessionCore
internal import Synchronization

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
