internal import SessionCore

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
