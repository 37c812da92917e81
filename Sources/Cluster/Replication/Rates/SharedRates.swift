package import Primitives

/// Limits the rates of requests on all members together.
///
/// Every member keeps one token bucket for each name, with the whole rate and the whole burst. Its own requests take tokens
/// at once, those of the other members when their heartbeats report them. Between two heartbeats, a member takes no more
/// than its share of the tokens. The share follows the demand: all for the only member with requests of a name, the
/// fraction of the requests for one of several.
///
/// Beyond the limit, all members together admit at most `burst` and the requests of the time until heartbeats arrive, plus one
/// request for each member. What was admitted in excess is missing later, so that excesses do not add up.
package struct SharedRates: Sendable {
    /// The decision on a request.
    package struct Decision: Sendable, Equatable {
        /// Whether the request is admitted.
        package let isAdmitted: Bool
        /// How many more requests this member admits at once.
        package let remaining: Int
        /// The time until the next request may be admitted, if none is now; otherwise until the bucket is full.
        package let wait: Duration
    }

    private struct Bucket {
        /// The rate, and the requests since the last heartbeat.
        var use: RateUse
        /// The tokens of all members; negative if they have admitted too many requests.
        var tokens: Double
        /// How many of them this member may take before its next heartbeat.
        var allowance: Double
        var updatedAt: Moment
        /// The requests that the last heartbeat reported.
        var reported = 0
        /// The times of the first and the last heartbeat that reported requests; nil: the other members know of none.
        var announced: (first: Moment, last: Moment)?
        /// The requests in the last heartbeats of other members, by their processes.
        var others: [UInt64: (attempts: Int, at: Moment)] = [:]
    }

    /// The time between heartbeats.
    private let interval = ClusterTimings().heartbeat
    /// How long the demand in a heartbeat is valid: one heartbeat may be missing.
    private static let recent = Duration.seconds(1)
    /// How long members assume that another one may have further requests of a name, and how long that member relies on
    /// it; the difference is for late heartbeats.
    private static let memory = Duration.seconds(5)
    private static let reliance = Duration.seconds(4)
    /// The most names in one heartbeat, those with the most requests.
    package static let reportLimit = 500
    /// The name of the bucket of all further names when the table is full.
    private static let overflow = ""

    private let maxBuckets: Int
    private var buckets: [String: Bucket] = [:]
    /// The names with requests since the last heartbeat, and those that other members have reported.
    private var hot: Set<String> = []
    private var members = 1
    private var isReachable = true
    private var nextSweep: Moment?

    /// - Parameter maxBuckets: The most names that have a bucket of their own.
    package init(maxBuckets: Int = 50_000) { self.maxBuckets = maxBuckets }

    // MARK: - Requests

    /// Decides on one request of a name. `rate` is greater than 0, `burst` at least 1.
    package mutating func take(_ name: String, rate: Double, burst: Double, at now: Moment) -> Decision {
        let name = countedName(for: name, at: now)
        var bucket = buckets[name] ?? fresh(name, rate: rate, burst: burst, at: now)
        refill(&bucket, at: now)
        bucket.use.rate = rate
        bucket.use.burst = burst
        bucket.tokens = min(bucket.tokens, burst)
        let isAdmitted = bucket.tokens >= 1 && bucket.allowance >= 1
        if isAdmitted {
            bucket.tokens -= 1
            bucket.allowance -= 1
        }
        if isReachable {
            bucket.use.attempts += 1
            if isAdmitted { bucket.use.admitted += 1 }
        }
        hot.insert(name)
        buckets[name] = bucket
        return Decision(
            isAdmitted: isAdmitted,
            remaining: isAdmitted ? Int(max(0, min(bucket.tokens, bucket.allowance, 1e9))) : 0,
            wait: .seconds(isAdmitted ? (burst - bucket.tokens) / rate : delay(bucket, at: now))
        )
    }

    /// The seconds until a request may be admitted.
    private func delay(_ bucket: Bucket, at now: Moment) -> Double {
        let tokens = max(0, 1 - bucket.tokens) / bucket.use.rate
        let allowance = max(0, 1 - bucket.allowance) / (bucket.use.rate * share(of: bucket, at: now))
        // The next heartbeat may change the share.
        return max(tokens, min(allowance, interval / .seconds(1)))
    }

    // MARK: - Heartbeats

    /// The requests since the last call, for a heartbeat. Called whenever one is sent.
    ///
    /// - Parameters:
    ///   - members: The number of members; nil: not known.
    ///   - isReachable: Whether they receive the heartbeats of this member.
    package mutating func report(members: Int?, isReachable: Bool, at now: Moment) -> [RateUse] {
        if let members { self.members = max(1, members) }
        self.isReachable = isReachable
        var uses: [RateUse] = []
        for (index, name) in busiest().enumerated() {
            guard var bucket = buckets[name] else { continue }
            refill(&bucket, at: now)
            bucket.others = bucket.others.filter { now - $0.value.at < Self.memory }
            if let announced = bucket.announced, now - announced.last > Self.reliance { bucket.announced = nil }
            if index < Self.reportLimit {
                bucket.reported = bucket.use.attempts
                if bucket.use.attempts > 0 { bucket.announced = (bucket.announced?.first ?? now, now) }
                if bucket.use.attempts > 0, name != Self.overflow { uses.append(bucket.use) }
                (bucket.use.admitted, bucket.use.attempts) = (0, 0)
            } else if bucket.tokens >= bucket.use.burst {
                // On the other members, the tokens would be there again as well.
                (bucket.use.admitted, bucket.use.attempts) = (0, 0)
            }
            // A fraction of a token is kept, or a small share would never become a request.
            bucket.allowance = max(min(bucket.allowance, 1), allotment(of: bucket, at: now))
            buckets[name] = bucket
            if bucket.use.attempts == 0, bucket.announced == nil, bucket.others.isEmpty { hot.remove(name) }
        }
        return uses
    }

    /// The hot names; if there are more than a heartbeat can have, those with the most requests first.
    private func busiest() -> [String] {
        guard hot.count > Self.reportLimit else { return Array(hot) }
        return hot.map { (name: $0, attempts: buckets[$0]?.use.attempts ?? 0) }.sorted { $0.attempts > $1.attempts }
            .map(\.name)
    }

    /// The connection to the other members is closed: until the next report, this member has its part of each limit.
    package mutating func disconnected() { isReachable = false }

    /// Another member has reported its requests.
    package mutating func heard(_ uses: [RateUse], from process: UInt64, at now: Moment) {
        for use in uses {
            let name = countedName(for: use.name, at: now)
            // The bucket of further names is not shared with other members.
            if name == Self.overflow { continue }
            var bucket = buckets[name] ?? fresh(name, rate: use.rate, burst: use.burst, at: now)
            refill(&bucket, at: now)
            let least = -(bucket.use.burst + bucket.use.rate * (interval / .seconds(1)) + Double(members))
            bucket.tokens = max(least, bucket.tokens - Double(use.admitted))
            bucket.others[process] = (use.attempts, now)
            bucket.allowance = min(bucket.allowance, max(1, allotment(of: bucket, at: now)))
            hot.insert(name)
            buckets[name] = bucket
        }
    }

    // MARK: - Shares

    /// The share of this member in the tokens of a name. The shares of all members add up to 1.25 at most once they know
    /// each other's demand, and to less than 2 before.
    private func share(of bucket: Bucket, at now: Moment) -> Double {
        let count = Double(members)
        guard isReachable else { return 1 / count }
        let others = bucket.others.values.filter { now - $0.at < Self.memory }
        // Requests that reach another member from now on take a small share there, because this one is known.
        let isKnown = bucket.announced.map { now - $0.first >= interval && now - $0.last <= Self.reliance } ?? false
        if others.isEmpty, isKnown { return 1 }
        let demand = others.reduce(0) { now - $1.at < Self.recent ? $0 + $1.attempts : $0 }
        if bucket.reported + demand == 0 || others.isEmpty { return 1 / max(1, count - 1) }
        return max(1 / (4 * count), Double(bucket.reported) / Double(bucket.reported + demand))
    }

    private func allotment(of bucket: Bucket, at now: Moment) -> Double {
        share(of: bucket, at: now) * max(0, bucket.tokens)
    }

    private mutating func refill(_ bucket: inout Bucket, at now: Moment) {
        let seconds = max(0, (now - bucket.updatedAt) / .seconds(1))
        let share = share(of: bucket, at: now)
        // Without the reports of other members, the tokens are those of this member alone.
        let part = isReachable ? 1 : 1 / Double(members)
        bucket.tokens = min(bucket.use.burst, bucket.tokens + seconds * bucket.use.rate * part)
        let most = max(1, share * bucket.use.burst)
        bucket.allowance = max(bucket.allowance, min(most, bucket.allowance + seconds * bucket.use.rate * share))
        bucket.updatedAt = max(now, bucket.updatedAt)
    }

    private func fresh(_ name: String, rate: Double, burst: Double, at now: Moment) -> Bucket {
        let use = RateUse(name: name, rate: rate, burst: burst)
        var bucket = Bucket(use: use, tokens: burst, allowance: 1, updatedAt: now)
        bucket.allowance = max(1, allotment(of: bucket, at: now))
        return bucket
    }

    // MARK: - Table

    /// The name under which a name is counted.
    private mutating func countedName(for name: String, at now: Moment) -> String {
        if buckets[name] != nil || buckets.count < maxBuckets { return name }
        // At most once a second: the search costs more than a request.
        if nextSweep.map({ $0 <= now }) ?? true {
            nextSweep = now + .seconds(1)
            buckets = buckets.filter { entry in
                let bucket = entry.value
                let seconds = max(0, (now - bucket.updatedAt) / .seconds(1))
                return hot.contains(entry.key) || bucket.tokens + seconds * bucket.use.rate < bucket.use.burst
            }
        }
        return buckets.count < maxBuckets ? name : Self.overflow
    }
}

/// The requests of one name that a member has counted since its last heartbeat.
package struct RateUse: Sendable, Equatable {
    /// The subject of a rate limit, for instance an address.
    package let name: String
    /// Its requests a second, and how many are admitted at once.
    package internal(set) var rate: Double
    package internal(set) var burst: Double
    /// The requests that the member has admitted.
    package internal(set) var admitted = 0
    /// The requests that the member has received, admitted or not.
    package internal(set) var attempts = 0

    static let wire = Wire<Self>(
        { (name: String, rate: Double, burst: Double, admitted: Int, attempts: Int) throws(CodingError) in
            guard rate.isFinite, rate > 0, burst.isFinite, burst >= 1 else { throw .malformed }
            return RateUse(name: name, rate: rate, burst: burst, admitted: admitted, attempts: attempts)
        },
        (\.name, .string),
        (\.rate, .double),
        (\.burst, .double),
        (\.admitted, .size),
        (\.attempts, .size)
    )
}
