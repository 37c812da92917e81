/// 128 bits that name something in the log: random bits, or a keyed digest.
package struct RecordKey: Sendable, Hashable, Comparable {
    /// The first and the last 64 bits.
    package let high: UInt64
    package let low: UInt64

    /// A key of these bits.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A key of random bits.
    package static func random() -> RecordKey {
        RecordKey(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }

    package static func < (left: RecordKey, right: RecordKey) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// A ticket as a record refers to it. It is valid in the epoch in which it was issued.
package struct TicketUse: Sendable, Equatable {
    /// The ticket.
    package let key: RecordKey
    /// The epoch, and a position of the log before which it was not used.
    package let epoch: UInt64
    package let issuedAt: UInt64

    /// The use of a ticket that was issued at a position of an epoch.
    package init(key: RecordKey, epoch: UInt64, issuedAt: UInt64) {
        self.key = key
        self.epoch = epoch
        self.issuedAt = issuedAt
    }
}

/// The tickets that were used, oldest first. Their number is bounded: a ticket that was issued before the oldest use
/// that is still known counts as used, so that no clock is needed.
struct TicketUses: Sendable, Equatable {
    /// The most uses that are kept.
    static let limit = 65_536

    struct Use: Sendable, Equatable {
        let key: RecordKey
        let position: UInt64
    }

    private(set) var uses: [Use] = []
    /// Uses up to this position are not known any more.
    private(set) var forgottenThrough: UInt64 = 0
    private var keys: Set<RecordKey> = []

    /// No uses.
    init() {}

    /// Uses that another member knows.
    init(_ uses: [Use], forgottenThrough: UInt64) {
        self.uses = uses
        self.forgottenThrough = forgottenThrough
        keys = Set(uses.map(\.key))
    }

    /// Whether a ticket may not be used any more.
    func contains(_ ticket: TicketUse) -> Bool {
        ticket.issuedAt < forgottenThrough || keys.contains(ticket.key)
    }

    /// Adds a use; false if the ticket was used before.
    mutating func add(_ ticket: TicketUse, at position: UInt64) -> Bool {
        guard !contains(ticket) else { return false }
        if uses.count >= Self.limit {
            // Several at once, because the others move.
            let forgotten = uses.prefix(Self.limit / 4)
            forgottenThrough = forgotten.last?.position ?? forgottenThrough
            for use in forgotten { keys.remove(use.key) }
            uses.removeFirst(forgotten.count)
        }
        uses.append(Use(key: ticket.key, position: position))
        keys.insert(ticket.key)
        return true
    }
}
