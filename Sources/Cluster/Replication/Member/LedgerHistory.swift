internal import Primitives

/// The state of the cluster at an earlier position of the same epoch.
package struct EarlierState: Sendable, Equatable {
    /// The ledger as of its position.
    package let ledger: ClusterLedger
    /// How long ago the position was the last one.
    package let age: Duration

    static let wire = Wire<Self>({ Self(ledger: $1, age: $0) }, (\.age, .duration), (\.ledger, ClusterLedger.wire))
}

/// What a member remembers of the log that it has applied: epochs, ages of positions, digests, and earlier ledgers. A joining
/// member reads the log from one of these ledgers on, so that it has recent events and not the present state alone.
///
/// ```text
/// log    ──────┬──────────────┬──────────▶
///            older          newer     present
/// ```
///
/// The distance between two of them is limited in time, frames and bytes, and so is the part of the log that is read. A
/// ledger shares its storage with the later ones as far as nothing changed.
struct LedgerHistory: Sendable {
    private static let maxFrames: UInt64 = 4096
    private static let maxBytes = 16 << 20
    /// The maximum number of frames that a joining member reads. It is reached when members join one after the other.
    private static let maxReplay = 3 * maxFrames

    /// At most two, the older one first.
    private var entries: [(ledger: ClusterLedger, takenAt: Moment)] = []
    /// The last epochs that the member has been in, newest last.
    private(set) var epochs: [UInt64] = []
    /// Which requests with an `Idempotency-Key` have expired.
    private(set) var ages = PositionAges(lifetime: IdempotentRequests.lifetime)
    var digests = RecentDigests()
    /// The bytes of the frames since the last entry.
    var bytes = 0

    /// Begins with a ledger, and with an earlier one of the same epoch.
    mutating func restart(with ledger: ClusterLedger, after earlier: EarlierState? = nil, at now: Moment) {
        entries = earlier.map { [($0.ledger, now - $0.age)] } ?? []
        entries.append((ledger, now))
        if !epochs.contains(ledger.epoch) { epochs = (epochs + [ledger.epoch]).suffix(ClusterLedger.remembered) }
        ages.reset()
        digests.restart(with: ledger.digest, at: ledger.position)
        bytes = 0
    }

    /// Whether the member has been in an epoch before it was in another one.
    func wasIn(_ epoch: UInt64, before other: UInt64) -> Bool {
        guard let place = epochs.firstIndex(of: epoch) else { return false }
        return place < epochs.firstIndex(of: other) ?? 0
    }

    /// Notes the age of the present position, and stores the present ledger if the last one is too far from it.
    mutating func note(_ ledger: ClusterLedger, interval: Duration, at now: Moment) {
        ages.note(ledger.position, at: now)
        guard let last = entries.last else { return }
        if ledger.position == last.ledger.position {
            entries[entries.count - 1].takenAt = now
            return
        }
        let frames = ledger.position - last.ledger.position
        guard now - last.takenAt >= interval || frames >= Self.maxFrames || bytes >= Self.maxBytes else { return }
        entries = [last, (ledger, now)]
        bytes = 0
    }

    /// The oldest ledger up to an age that is older than the present one.
    func oldest(upTo age: Duration, before position: UInt64, at now: Moment) -> EarlierState? {
        let entry = entries.first { entry in
            now - entry.takenAt <= age && position - entry.ledger.position <= Self.maxReplay
        }
        guard let entry, entry.ledger.position < position else { return nil }
        return EarlierState(ledger: entry.ledger, age: now - entry.takenAt)
    }
}
