internal import Primitives

/// A frame with its position in the log.
package struct StoredFrame: Sendable, Equatable {
    /// The position; the first one is 1.
    package let position: UInt64
    package let bytes: [UInt8]

    package init(position: UInt64, bytes: [UInt8]) {
        self.position = position
        self.bytes = bytes
    }
}

/// Orders the frames of the log, which may arrive late, twice, or not at all, and decides which missing frames are fetched.
struct LogReader: Sendable {
    /// The greatest position that is used: the numbers of events have 48 bits for it. Positions are not encrypted, so that any
    /// client of the engine may state them.
    static let greatestPosition: UInt64 = 1 << 48 - 1
    /// The maximum number of frames that are kept after a gap, and their maximum size in bytes. The latest frames are
    /// dropped first, and fetched again.
    private static let (bufferLimit, bufferBytes) = (4096, 64 << 20)
    /// The maximum number of frames that one request fetches: with the largest frames of members 32 MiB. NATS closes the
    /// connection of a client with 64 MiB to read. The messages of other clients may be larger: after a request without a reply,
    /// the next request fetches the least number, with the usual limit of NATS 16 MiB, and each further request a frame more.
    private static let (fetchLimit, leastFetch) = (UInt64(128), UInt64(16))

    /// The position of the last frame that was returned.
    private(set) var position: UInt64 = 0
    /// The highest position that is known to be in the log.
    private(set) var known: UInt64 = 0
    /// The highest one that members, or the extent of the log, have stated.
    private var stated: UInt64 = 0
    private var early: [UInt64: [UInt8]] = [:]
    private var earlyBytes = 0
    /// The position whose frame is to be compared with that of the log of a new connection, before any frame is applied: another
    /// log may have as many frames. Nil: none.
    var unproven: UInt64?
    private(set) var isFetching = false
    /// The time of the last request for frames.
    private var requestedAt = Moment.zero
    /// The time before which frames are not requested: the last request had no reply.
    private(set) var pausedUntil = Moment.zero
    /// The number of frames that the next request fetches.
    private var fetchCount = LogReader.fetchLimit
    /// The time since which frames are missing; nil: none is.
    var behindSince: Moment?
    /// The time since which the engine has replied to all requests that it does not have the next frame; nil: it has.
    var missingSince: Moment?

    /// Continues after a position.
    ///
    /// - Parameter known: The highest position that is known to be in the log; nil: `position`.
    mutating func restart(after position: UInt64, known: UInt64? = nil) {
        self.position = min(position, Self.greatestPosition)
        self.known = max(self.position, min(known ?? 0, Self.greatestPosition))
        if known == nil { stated = 0 }
        (early, earlyBytes) = ([:], 0)
        unproven = nil
    }

    /// A connection is open. What was received by a former one may be in the log no more.
    mutating func connected() {
        (known, stated, early, earlyBytes, isFetching) = (position, 0, [:], 0, false)
        pausedUntil = .zero
    }

    /// Adds a frame. `next` returns the frame, and the later ones that waited for it. False: the frame was there already, there
    /// is no place, or its position is too great.
    @discardableResult
    mutating func arrived(_ frame: StoredFrame) -> Bool {
        guard frame.position <= Self.greatestPosition else { return false }
        known = max(known, frame.position)
        guard frame.position > position else { return false }
        // Frames of a fetch take the place of later ones.
        while frame.position > position + 1,
            early.count >= Self.bufferLimit || earlyBytes + frame.bytes.count > Self.bufferBytes
        {
            guard let last = early.keys.max(), last > frame.position, let bytes = early.removeValue(forKey: last) else {
                return false
            }
            earlyBytes -= bytes.count
        }
        let former = early.updateValue(frame.bytes, forKey: frame.position)
        earlyBytes += frame.bytes.count - (former?.count ?? 0)
        return former == nil
    }

    /// Records that the log reaches this position, unless it is too great.
    mutating func reaches(_ position: UInt64) {
        guard position <= Self.greatestPosition else { return }
        (known, stated) = (max(known, position), max(stated, position))
    }

    /// The engine does not have the next frame: positions of delivered frames alone, which may be forged, do not count.
    mutating func nextIsMissing() {
        known = max(position, stated)
        early = early.filter { $0.key <= known }
        earlyBytes = early.values.reduce(0) { $0 + $1.count }
        if gap == nil { missingSince = nil }
    }

    /// The next frame in order; nil while it is missing.
    mutating func next() -> StoredFrame? {
        guard let bytes = early.removeValue(forKey: position + 1) else { return nil }
        earlyBytes -= bytes.count
        position += 1
        return StoredFrame(position: position, bytes: bytes)
    }

    /// The missing positions of the log, up to the first frame that was received.
    var gap: ClosedRange<UInt64>? {
        guard position < known, early[position + 1] == nil else { return nil }
        let last = early.keys.min().map { $0 - 1 } ?? known
        return position + 1...last
    }

    /// The positions to fetch now: of frames that have been missing for some time, or whose successors have arrived, and of the
    /// frame to be compared.
    mutating func gapToFetch(after delay: Duration, always: Bool, at now: Moment) -> ClosedRange<UInt64>? {
        var gap = self.gap
        if let unproven { gap = unproven...max(unproven, gap?.upperBound ?? unproven) }
        guard !isFetching, let gap else { return nil }
        let since = behindSince ?? now
        behindSince = since
        guard now >= pausedUntil else { return nil }
        // Later frames show that the missing ones are not just late, unless the engine has replied that it has none of them.
        let isCertain = gap.upperBound < known && missingSince == nil
        guard always || isCertain || now - since >= delay else { return nil }
        (isFetching, requestedAt) = (true, now)
        return gap.lowerBound...min(gap.upperBound, gap.lowerBound + fetchCount - 1)
    }

    /// The request for frames, if there is one, has ended: with frames, or a reply that there are none, or without either.
    mutating func fetchEnded(isReplied: Bool = true) {
        if isFetching { fetchCount = isReplied ? min(Self.fetchLimit, fetchCount + 1) : Self.leastFetch }
        isFetching = false
    }

    /// The last request had no reply: the next one follows after this time, since an engine may refuse requests at once.
    mutating func pause(for time: Duration) { pausedUntil = requestedAt + time }
}

/// A running digest of the log: equal for two members only if they have read equal bytes at equal positions, in the same
/// order, since the beginning of the epoch.
package struct LogDigest: Sendable, Equatable {
    package internal(set) var value: UInt64 = 0

    /// Adds the frame of a position, by the checksum of its bytes.
    mutating func add(_ sum: UInt64, at position: UInt64) {
        value = SplitMix64.mixed(value ^ (SplitMix64.mixed(position) &+ sum))
    }
}

/// The digests of the log up to each of the last positions that this member has read.
struct RecentDigests: Sendable {
    private static let limit: UInt64 = 4096

    /// The digests; that of a position has the index of its remainder by the limit.
    private var values = [LogDigest](repeating: LogDigest(), count: Int(RecentDigests.limit))
    private var first: UInt64 = 0
    private var last: UInt64 = 0

    mutating func restart(with digest: LogDigest, at position: UInt64) {
        first = position
        last = position
        values[Int(position % Self.limit)] = digest
    }

    /// Adds the digest of the position after the last one.
    mutating func append(_ digest: LogDigest, at position: UInt64) {
        last = position
        if last - first >= Self.limit { first = last - Self.limit + 1 }
        values[Int(position % Self.limit)] = digest
    }

    /// The digest up to a position; nil if the position is not among the last ones.
    subscript(position: UInt64) -> LogDigest? {
        position >= first && position <= last ? values[Int(position % Self.limit)] : nil
    }

    /// The proof that a member has read another log up to a position, by the digest of the member; nil: the member has read the
    /// same log, or the position is not among the last ones.
    func otherPast(of member: UInt64, upTo position: UInt64, _ digest: UInt64) -> LogDivergence? {
        guard let own = self[position]?.value, own != digest else { return nil }
        return LogDivergence(position: position, own: own, other: digest, member: member)
    }
}
