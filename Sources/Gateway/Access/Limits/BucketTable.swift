internal import SessionCore
internal import Synchronization

/// A bucket for each name, for so many names at most.
///
/// Buckets that have filled up again are forgotten first. If even so no place is left, all further names share one
/// bucket: whoever invents names gains nothing but company.
final class BucketTable: Sendable {
    private struct Body {
        var buckets: [String: TokenBucket] = [:]
        var shared: TokenBucket?
        var nextSweep: Moment?
    }

    private let maxBuckets: Int
    private let body = Mutex(Body())

    /// An empty table.
    init(maxBuckets: Int = 50_000) { self.maxBuckets = maxBuckets }

    /// One request comes under a name.
    func take(_ name: String, rate: Double, burst: Double, now: Moment) -> TokenBucket.Verdict {
        body.withLock { body in
            if var bucket = body.buckets[name] {
                bucket.change(rate: rate, burst: burst, now: now)
                let verdict = bucket.take(now: now)
                body.buckets[name] = bucket
                return verdict
            }
            sweepIfFull(&body, now: now)
            var bucket = TokenBucket(rate: rate, burst: burst, now: now)
            if body.buckets.count >= maxBuckets {
                bucket = body.shared ?? bucket
                defer { body.shared = bucket }
                return bucket.take(now: now)
            }
            let verdict = bucket.take(now: now)
            body.buckets[name] = bucket
            return verdict
        }
    }

    /// Looks through all buckets once a second at most: looking costs more than a request does.
    private func sweepIfFull(_ body: inout Body, now: Moment) {
        guard body.buckets.count >= maxBuckets, body.nextSweep.map({ $0 <= now }) ?? true else { return }
        body.buckets = body.buckets.filter { !$0.value.isFull(now: now) }
        body.nextSweep = now + .seconds(1)
    }

    /// The number of names that have a bucket.
    var count: Int { body.withLock { $0.buckets.count } }
}
