/// 128 bits that name something in the log: random bits, or a keyed digest.
package struct RecordKey: Sendable, Hashable, Comparable {
    /// The first and the last 64 bits.
    package let high: UInt64
    package let low: UInt64

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

    /// The layout of the bytes.
    package static let wire = Wire<Self>(Self.init, (\.key, .key), (\.epoch, .fixed64), (\.issuedAt, .varint))
}

/// The opening of a stream by a ticket, for the first time or again.
package struct TicketOpening: Sendable, Equatable {
    package let use: TicketUse
    /// The name of the requested stream: a digest of its URL.
    package let target: RecordKey
    /// Whether the request names the last event that its client has read. Without it only the first use is accepted.
    package let isResumed: Bool

    package init(use: TicketUse, target: RecordKey, isResumed: Bool) {
        self.use = use
        self.target = target
        self.isResumed = isResumed
    }

    static let wire = Wire<Self>(Self.init, (\.use, TicketUse.wire), (\.target, .key), (\.isResumed, .bool))
}

/// A record about the stream of a used ticket.
package enum TicketRecord: Sendable, Equatable {
    /// The writer opens the stream, or opens it again, also if it is open on another member.
    case open(TicketOpening)
    /// The stream on the writer has closed, at a time in seconds since 1970.
    case closed(RecordKey, at: Double)
    /// The streams of a removed member have closed, at a time in seconds since 1970.
    case closedAll(of: UInt64, at: Double)

    static let wire = Wire<Self>(cases: [
        Case(1, TicketOpening.wire, make: Self.open) { if case .open(let opening) = $0 { opening } else { nil } },
        Case(2, .key, .double, make: Self.closed) {
            if case .closed(let key, let time) = $0 { (key, time) } else { nil }
        },
        Case(3, .fixed64, .double, make: Self.closedAll) {
            if case .closedAll(let member, let time) = $0 { (member, time) } else { nil }
        },
    ])
}

/// The state of a ticket as the log describes it.
package enum TicketState: Sendable, Equatable {
    /// The ticket was not used.
    case unused
    /// The ticket has opened this stream, which is open, or has closed at a time in seconds since 1970.
    case used(target: RecordKey, closedAt: Double?)
    /// The ticket belongs to another epoch, or its use is no longer known.
    case void
}

/// The tickets that were used, oldest first. Their number is bounded: a ticket that was issued before the oldest use
/// that is still known counts as used, so that no clock is needed.
struct TicketUses: Sendable, Equatable {
    /// The most uses that are kept.
    static let limit = 65_536

    struct Use: Sendable, Equatable {
        let key: RecordKey
        /// The position of the first use.
        let position: UInt64
        /// The stream that the ticket has opened.
        let target: RecordKey
        /// The member that opened it last.
        var holder: UInt64
        /// When it has closed, in seconds since 1970; nil while it is open.
        var closedAt: Double?

        static let wire = Wire<Self>(
            Self.init,
            (\.key, .key),
            (\.position, .varint),
            (\.target, .key),
            (\.holder, .fixed64),
            (\.closedAt, .optional(.double))
        )
    }

    private(set) var uses: [Use] = []
    /// Uses up to this position are not known any more.
    private(set) var forgottenThrough: UInt64 = 0
    /// The number of uses that were forgotten, and the number of each known one since the beginning.
    private var forgotten = 0
    private var numbers: [RecordKey: Int] = [:]

    init() {}

    /// Uses that another member knows.
    init(_ uses: [Use], forgottenThrough: UInt64) {
        self.uses = uses
        self.forgottenThrough = forgottenThrough
        for (number, use) in uses.enumerated() { numbers[use.key] = number }
    }

    static func == (left: TicketUses, right: TicketUses) -> Bool {
        left.uses == right.uses && left.forgottenThrough == right.forgottenThrough
    }

    func state(of ticket: TicketUse) -> TicketState {
        if let index = index(of: ticket.key) {
            return .used(target: uses[index].target, closedAt: uses[index].closedAt)
        }
        return ticket.issuedAt < forgottenThrough ? .void : .unused
    }

    /// Opens the stream of a ticket for a member. Returns whether the member may open it, and the member that had opened
    /// it before, if it is still open there.
    mutating func open(_ opening: TicketOpening, by member: UInt64, at position: UInt64) -> (Bool, former: UInt64?) {
        switch state(of: opening.use) {
        case .unused:
            add(Use(key: opening.use.key, position: position, target: opening.target, holder: member))
            return (true, nil)
        case .used(let target, let closedAt):
            guard opening.isResumed, target == opening.target, let index = index(of: opening.use.key) else {
                return (false, nil)
            }
            let former = closedAt == nil ? uses[index].holder : nil
            uses[index].holder = member
            uses[index].closedAt = nil
            return (true, former)
        case .void: return (false, nil)
        }
    }

    /// The stream of a ticket has closed on the member that opened it last.
    mutating func close(_ key: RecordKey, by member: UInt64, at time: Double) {
        guard let index = index(of: key), uses[index].holder == member else { return }
        uses[index].closedAt = uses[index].closedAt ?? time
    }

    mutating func closeAll(of member: UInt64, at time: Double) {
        for index in uses.indices where uses[index].holder == member && uses[index].closedAt == nil {
            uses[index].closedAt = time
        }
    }

    func hasOpen(of member: UInt64) -> Bool { uses.contains { $0.holder == member && $0.closedAt == nil } }

    /// The member that has opened the stream of a ticket last; nil: none is known.
    func holder(of key: RecordKey) -> UInt64? { index(of: key).map { uses[$0].holder } }

    private func index(of key: RecordKey) -> Int? { numbers[key].map { $0 - forgotten } }

    private mutating func add(_ use: Use) {
        if uses.count >= Self.limit {
            // Several at once, because the others move.
            let oldest = uses.prefix(Self.limit / 4)
            forgottenThrough = oldest.last?.position ?? forgottenThrough
            for use in oldest { numbers[use.key] = nil }
            forgotten += oldest.count
            uses.removeFirst(oldest.count)
        }
        numbers[use.key] = forgotten + uses.count
        uses.append(use)
    }

    static let wire = Wire<Self>(
        { TicketUses($1, forgottenThrough: $0) },
        (\.forgottenThrough, .varint),
        (\.uses, .list(Use.wire))
    )
}

extension ClusterLedger {
    /// The process of the member that has opened the stream of a ticket last; nil: the member was removed, or is not known.
    package func process(thatHas ticket: RecordKey) -> UInt64? {
        ticketUses.holder(of: ticket).flatMap { members[$0]?.info.process }
    }

    mutating func apply(_ record: TicketRecord, by member: UInt64) {
        switch record {
        case .open(let opening):
            var (mayOpen, former): (Bool, UInt64?) = (false, nil)
            if opening.use.epoch == epoch { (mayOpen, former) = ticketUses.open(opening, by: member, at: position) }
            let key = opening.use.key
            if let former, former != member { effects.append(.order(.closeTicketStream(key), to: former)) }
            effects.append(.order(.report(.ticket(key), mayOpen ? .accepted : .refused), to: member))
        case .closed(let key, let time): ticketUses.close(key, by: member, at: time)
        case .closedAll(let gone, let time):
            if members[gone] == nil { ticketUses.closeAll(of: gone, at: time) }
        }
    }
}

extension Wire<RecordKey> { static let key = Wire(RecordKey.init, (\.high, .fixed64), (\.low, .fixed64)) }

extension MemberMachine {
    /// The state of a ticket. A ticket of an epoch that this member has not read yet counts as unused: the log decides about its use.
    package func state(of ticket: TicketUse) -> TicketState {
        if let ledger, ledger.epoch == ticket.epoch { return ledger.ticketUses.state(of: ticket) }
        return isPast(ticket.epoch) ? .void : .unused
    }
}
