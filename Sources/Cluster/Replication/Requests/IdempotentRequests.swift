internal import Primitives

/// A record about a request with an `Idempotency-Key`.
package enum RequestRecord: Sendable, Equatable {
    /// The writer is about to perform the request, unless the log knows the key.
    ///
    /// - `body`: A digest of the body, whose first 64 bits may be the caller: see `ClusterLedger.digest`.
    /// - `expired`: The position of an earlier record with this key that has expired at the writer; 0 for none.
    case begin(RecordKey, body: RecordKey, expired: UInt64)
    /// The writer has performed the request, and this is the response.
    case answer(RecordKey, [UInt8])
    /// The writer has not performed the request: it may be repeated.
    case abandon(RecordKey)

    static let wire = Wire<Self>(cases: [
        Case(1, .key, .key, .varint, make: Self.begin) {
            if case .begin(let key, let body, let expired) = $0 { (key, body, expired) } else { nil }
        },
        Case(2, .key, .blob, make: Self.answer) {
            if case .answer(let key, let response) = $0 { (key, response) } else { nil }
        },
        Case(3, .key, make: Self.abandon) { if case .abandon(let key) = $0 { key } else { nil } },
    ])
}

/// The requests with an `Idempotency-Key` that members perform or have performed, the newest of them.
package struct IdempotentRequests: Sendable, Equatable {
    /// The most requests, and the most bytes of responses, that are kept.
    static let limit = 10_000
    static let byteLimit = 16 << 20
    /// How long a key is known.
    static let lifetime = Duration.seconds(600)

    struct Entry: Sendable, Equatable {
        let member: UInt64
        let body: RecordKey
        let position: UInt64
        var answer: [UInt8]?
        /// The caller whose share the request counts towards. A request of an earlier version has a share of its own.
        var share: UInt64 { body.high }

        static let wire = Wire<Self>(
            Self.init,
            (\.member, .fixed64),
            (\.body, .key),
            (\.position, .varint),
            (\.answer, .optional(.blob))
        )
    }

    private(set) var entries: [RecordKey: Entry] = [:]
    private var bytes = 0

    init() {}

    /// The requests that another member knows.
    init(_ entries: [RecordKey: Entry]) {
        self.entries = entries
        bytes = entries.values.reduce(0) { $0 + ($1.answer?.count ?? 0) }
    }

    /// Whether a member is performing the request of a key.
    package func isPending(_ key: RecordKey) -> Bool { entries[key].map { $0.answer == nil } ?? false }

    /// The position of the record with which a request began; nil for an unknown key.
    func position(of key: RecordKey) -> UInt64? { entries[key]?.position }

    /// The decision on a request that a member is about to perform.
    mutating func begin(
        _ key: RecordKey,
        body: RecordKey,
        expired: UInt64,
        by member: UInt64,
        at position: UInt64
    ) -> RecordOutcome {
        if let entry = entries[key], entry.position != expired {
            guard entry.body == body else { return .refused }
            return entry.answer.map { .answered($0) } ?? .pending
        }
        remove(key)
        entries[key] = Entry(member: member, body: body, position: position)
        return .accepted
    }

    /// Returns whether the member was performing the request.
    @discardableResult
    mutating func answer(_ key: RecordKey, _ response: [UInt8], by member: UInt64) -> Bool {
        guard entries[key]?.member == member, isPending(key) else { return false }
        entries[key]?.answer = response
        bytes += response.count
        return true
    }

    mutating func abandon(_ key: RecordKey, by member: UInt64) {
        if entries[key]?.member == member, isPending(key) { remove(key) }
    }

    /// Removes the requests that a member was performing when it was removed: nothing of them is in the log.
    mutating func abandonAll(by member: UInt64) {
        for (key, entry) in entries where entry.member == member && entry.answer == nil { remove(key) }
    }

    private mutating func remove(_ key: RecordKey) { bytes -= entries.removeValue(forKey: key)?.answer?.count ?? 0 }

    /// Whether there are more requests, or bytes of responses, than are kept.
    var exceedLimits: Bool { entries.count > Self.limit || bytes > Self.byteLimit }

    /// Removes requests until three quarters of the limits hold: finding them takes long. The oldest ones go of the
    /// callers with the most requests or, if there are too many bytes, with the most bytes.
    mutating func drop() {
        let isForBytes = bytes > Self.byteLimit
        // With each request, what its caller has in this request and newer ones.
        var (shares, requests) = ([UInt64: Int](), [(share: Int, position: UInt64, key: RecordKey)]())
        for (key, entry) in entries.sorted(by: { ($0.value.position, $0.key) > ($1.value.position, $1.key) }) {
            let size = isForBytes ? entry.answer?.count ?? 0 : 1
            if size == 0 { continue }
            shares[entry.share, default: 0] += size
            requests.append((shares[entry.share, default: 0], entry.position, key))
        }
        requests.sort { ($1.share, $0.position, $0.key) < ($0.share, $1.position, $1.key) }
        for (_, _, key) in requests {
            if entries.count <= Self.limit / 4 * 3, bytes <= Self.byteLimit / 4 * 3 { return }
            remove(key)
        }
    }

    /// Removes the oldest quarter, as members of earlier versions do.
    mutating func dropOldest() {
        let oldest = entries.sorted { ($0.value.position, $0.key) < ($1.value.position, $1.key) }
        for (key, _) in oldest.prefix((entries.count + 3) / 4) { remove(key) }
    }

    static let wire = Wire<Self>({ IdempotentRequests($0) }, (\.entries, .dictionary(.key, Entry.wire)))
}

extension ClusterLedger {
    mutating func apply(_ record: RequestRecord, by member: UInt64) {
        switch record {
        case .begin(let key, let body, let expired):
            let outcome = requests.begin(key, body: body, expired: expired, by: member, at: position)
            effects.append(.order(.report(.request(key, body: body), outcome), to: member))
            guard outcome == .accepted else { return }
        case .answer(let key, let response): guard requests.answer(key, response, by: member) else { return }
        case .abandon(let key): return requests.abandon(key, by: member)
        }
        guard requests.exceedLimits else { return }
        // All members have to keep the same requests: earlier versions drop requests after the same records.
        if haveOneVersion { requests.drop() } else { requests.dropOldest() }
    }

    /// The digest of a body for the record with which a request begins. Once all members have one version, the first
    /// half is the caller, so that the request counts towards the share of the caller. Earlier versions have the digest
    /// of the body alone: a repetition has the digest of the first request, which may have come from another address.
    package func digest(_ body: RecordKey, of caller: UInt64, for key: RecordKey) -> RecordKey {
        if let known = requests.entries[key]?.body, known.low == body.low { return known }
        return haveOneVersion ? RecordKey(high: caller, low: body.low) : body
    }
}

/// The positions of the log that this member has applied long ago, by its monotonic clock: wall clocks may be moved.
struct PositionAges: Sendable {
    private let lifetime: Duration
    private var samples: [(position: UInt64, time: Moment)] = []
    /// The last position that was applied a lifetime ago; 0 if none is known.
    private(set) var expired: UInt64 = 0

    /// - Parameter lifetime: The age at which a position is expired. It may be recognized by a hundredth of this later.
    init(lifetime: Duration) { self.lifetime = lifetime }

    /// The log is applied up to a position.
    mutating func note(_ position: UInt64, at now: Moment) {
        if let last = samples.last, now - last.time < lifetime / 100 { return }
        samples.append((position, now))
        let old = samples.prefix { now - $0.time >= lifetime }
        expired = old.last?.position ?? expired
        samples.removeFirst(old.count)
    }

    /// The positions belong to another epoch, or were not applied by this member.
    mutating func reset() { self = PositionAges(lifetime: lifetime) }
}

extension MemberMachine {
    /// The position of the record with which a request began if its key has expired, else 0.
    package func expiredPosition(of key: RecordKey) -> UInt64 {
        guard let position = ledger?.requests.position(of: key), position <= history.ages.expired else { return 0 }
        return position
    }
}
