internal import Changes
package import SessionCore

/// The state of the cluster at a position of the log: its members, the shared subscriptions, their owners, and the members with
/// readers of them. It is a function of the frames alone, so it is the same on every member at the same position.
package struct ClusterLedger: Sendable, Equatable {
    /// A running gateway process.
    package struct Member: Sendable, Equatable {
        /// The information of its `join` record.
        package var info: MemberInfo
        /// The position of its first frame.
        package var joinedAt: UInt64
        /// The number of its last frame.
        package var counter: UInt64
        /// The parts of an incomplete record, up to `longestRecord` bytes.
        var partial: [UInt8] = []

        /// The greatest length of a record in parts, in bytes. A longer one is cut off, so that no member can read the record.
        static let longestRecord = 128 << 20

        /// Adds a part of a record; returns the record with its last part.
        mutating func add(_ part: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
            partial += part.prefix(max(0, Self.longestRecord - partial.count))
            guard isLast else { return nil }
            defer { partial = [] }
            return partial
        }

        static let wire = Wire<Self>(
            Self.init,
            (\.info, MemberInfo.wire),
            (\.joinedAt, .varint),
            (\.counter, .varint),
            (\.partial, .blob)
        )
    }

    /// The number of the present epoch, and the position at which it began.
    package internal(set) var epoch: UInt64
    package internal(set) var epochPosition: UInt64
    /// The numbers of earlier epochs, newest last.
    var earlierEpochs: [UInt64] = []
    /// The position of the last frame that was applied.
    package internal(set) var position: UInt64
    /// The formats that all members read; nil: there are no members, or no such formats.
    package internal(set) var formats: Formats?
    /// The digest of the frames of the epoch up to this position.
    package internal(set) var digest = LogDigest()
    package internal(set) var members: [UInt64: Member] = [:]
    package internal(set) var topics: SharedTopics
    package internal(set) var subscriptions: [String: SubscriptionEntry] = [:]
    package internal(set) var clients: [String: ClientEntry] = [:]
    package internal(set) var specified: [String: SpecifiedResource] = [:]
    /// The upstream sessions that a new owner can continue, by client.
    package internal(set) var sessions: [String: OfferedUpstreamSession] = [:]
    var ticketUses = TicketUses()
    package internal(set) var requests = IdempotentRequests()
    package internal(set) var quotas = SharedQuotas()
    /// The sessions, subscriptions and items that the members may have open on the upstreams.
    package internal(set) var credits = SharedCredits()
    /// The members that were removed in this epoch and in earlier epochs, newest last. A late repetition of the first frame of
    /// a removed member does not add the member again, and a process that returns does not report resources that other members
    /// have inherited. The removed members of earlier epochs, which write no frames of this epoch, may differ between ledgers.
    var removed: [UInt64] = []
    /// The effects so far of the frame that is being applied; else none.
    var effects: [LedgerEffect] = []

    /// A ledger at the beginning of an epoch.
    init(epoch: UInt64, position: UInt64, groups: Int, earlierEpochs: [UInt64] = []) {
        self.epoch = epoch
        epochPosition = position
        self.position = position
        topics = SharedTopics(groups: groups)
        self.earlierEpochs = earlierEpochs
    }

    /// The result of applying a frame.
    package enum FrameResult: Sendable, Equatable {
        /// The frame was applied, with these effects in order.
        case taken([LedgerEffect])
        /// A new epoch began; the ledger is empty otherwise.
        case epochStarted
        /// A repetition of a frame that was applied.
        case again
        /// The frame was ignored: its writer is no member or wrote under an earlier epoch, or its bytes are not valid.
        case stale
        /// All members ignored the frame, because some of them do not read its format.
        case unreadable
        /// The checksum is wrong: the engine has changed the frame.
        case damaged
        /// A frame before it is missing from the log, or it belongs to an epoch whose beginning is missing.
        case lost
    }

    /// The number of earlier epochs, and of removed members, that are kept.
    static let remembered = 64
}

/// The frames that count, and the effects of their records on the ledger.
extension ClusterLedger {
    /// Applies the message at the position that follows the last one.
    mutating func apply(_ entry: LogEntry) -> FrameResult {
        position = entry.position
        digest.add(entry.sum, at: position)
        if entry.wrongSum != nil { return .damaged }
        guard let frame = entry.frame else { return .stale }
        if frame.kind == .epoch { return begin(frame, entry) }
        guard frame.epoch == epoch else {
            // A writer that has applied positions after the beginning of this epoch, but writes under another epoch,
            // has read another log: this one was restored from an older copy while this member was disconnected.
            let isLate = earlierEpochs.contains(frame.epoch) || frame.previous < epochPosition
            return isLate ? .stale : .lost
        }
        guard frame.previous < position else { return .lost }
        if let formats, !formats.contains(frame.format) { return .unreadable }
        if members[frame.member] == nil, !join(frame) { return .stale }
        guard let member = members[frame.member] else { return .stale }
        if frame.counter <= member.counter { return .again }
        guard frame.counter == member.counter + 1 else { return .lost }
        members[frame.member]?.counter = frame.counter
        return .taken(applyRecords(frame))
    }

    private mutating func begin(_ frame: ClusterFrame, _ entry: LogEntry) -> FrameResult {
        if frame.epoch == epoch || earlierEpochs.contains(frame.epoch) { return .again }
        // The frame may also have been written on another log, which was longer.
        guard frame.previous >= epochPosition, frame.previous < position else { return .stale }
        let earlier = (earlierEpochs + [epoch]).suffix(Self.remembered)
        self = ClusterLedger(beginning: frame, entry, earlierEpochs: Array(earlier), removed: removed)
        return .epochStarted
    }

    /// The empty ledger after the frame that begins an epoch.
    init(beginning frame: ClusterFrame, _ entry: LogEntry, earlierEpochs: [UInt64] = [], removed: [UInt64]) {
        self.init(
            epoch: frame.epoch,
            position: entry.position,
            groups: (try? Wire<Int>.groups.value(frame.payload)) ?? 1,
            earlierEpochs: earlierEpochs
        )
        self.removed = removed
        digest.add(entry.sum, at: entry.position)
    }

    /// Adds an unknown writer whose frame starts with `join`, and that shares a format with all members.
    private mutating func join(_ frame: ClusterFrame) -> Bool {
        var reader = ByteReader(frame.payload)
        guard frame.counter == 1, !removed.contains(frame.member), let body = try? reader.blob(),
            case .join(let info) = try? ClusterRecord.read(body, layout: { _ in nil }),
            info.formats.contains(frame.format), members.isEmpty || formats?.common(with: info.formats) != nil
        else { return false }
        members[frame.member] = Member(info: info, joinedAt: position, counter: 0)
        noteFormats()
        return true
    }

    mutating func noteFormats() {
        formats = members.first?.value.info.formats
        for member in members.values { formats = formats?.common(with: member.info.formats) }
    }

    // MARK: - Records

    private mutating func applyRecords(_ frame: ClusterFrame) -> [LedgerEffect] {
        var reader = ByteReader(frame.payload)
        // Every member skips a record that it cannot parse; its length precedes it.
        while reader.remaining > 0, members[frame.member] != nil, let body = try? reader.blob() {
            applyRecord(body, by: frame.member)
        }
        let taken = effects
        effects = []
        return taken
    }

    private mutating func applyRecord(_ body: ArraySlice<UInt8>, by member: UInt64) {
        guard let record = try? read(body) else { return }
        guard case .part(let bytes, let isLast) = record else { return apply(record, by: member) }
        guard let whole = members[member]?.add(bytes, isLast: isLast) else { return }
        if let record = try? read(whole[...]) { apply(record, by: member) }
    }

    private func read(_ body: ArraySlice<UInt8>) throws(CodingError) -> ClusterRecord {
        try ClusterRecord.read(body) { [subscriptions] in subscriptions[$0]?.layout }
    }

    mutating func apply(_ record: ClusterRecord, by member: UInt64) {
        switch record {
        case .join:
            // The member was added before the first record of its frame (see `join`).
            effects.append(.joined(member))
            assignUnowned()
        case .remove(let gone): remove(gone)
        case .addInterest(let id, let key): addInterest(id, key, by: member)
        case .removeInterest(let id):
            if topics.removeInterest(id, of: member) { effects.append(.interestRemoved(id)) }
        case .retire(let id, let term): retire(id, term, by: member)
        case .change(let change, let term, let number): apply(change, term, number, by: member)
        case .session(let client, let session):
            if clients[client]?.owner == member { sessions[client] = session }
        case .upstreamNumber(let id, let term, let number):
            if owns(id, term, member) { subscriptions[id]?.number = number }
        case .specify(let id, let specification): specify(id, specification, by: member)
        case .ticket(let record): apply(record, by: member)
        case .stream(let record): apply(record, by: member)
        case .request(let record): apply(record, by: member)
        case .quota(let record): apply(record, by: member)
        case .credit(let record): apply(record, by: member)
        case .endUpstream(let upstream): if haveOneVersion { end(upstream) }
        case .upstreams(let upstreams):
            guard haveOneVersion else { break }
            members[member]?.info.upstreams = upstreams
            assignUnowned()
        case .part: break
        }
    }

    // MARK: - Changes of the hubs

    /// Applies a change if its writer owns the client or subscription (see `ClusterRecord.change`).
    private mutating func apply(_ change: Change, _ term: UInt64, _ number: UInt64?, by member: UInt64) {
        guard isValid(change, term: term, by: member) else { return }
        if let number, case .subscription(let id, .event) = change { processed(number, of: id.rawValue) }
        note(change, by: member)
        effects.append(.hub(change))
    }

    private func isValid(_ change: Change, term: UInt64, by member: UInt64) -> Bool {
        switch change {
        case .client(let id, .added): return clients[id.rawValue] == nil
        case .client(let id, .removed), .client(let id, .event): return clients[id.rawValue]?.owner == member
        case .subscription(let id, .added): return subscriptions[id.rawValue] == nil
        case .subscription(let id, .removed), .subscription(let id, .propertiesChanged):
            return subscriptions[id.rawValue]?.owner == member
        case .subscription(let id, .carried(let client)):
            if let client, clients[client.rawValue]?.owner != member { return false }
            return owns(id.rawValue, term, member)
        case .subscription(let id, .activity), .subscription(let id, .event): return owns(id.rawValue, term, member)
        }
    }

    private func owns(_ id: String, _ term: UInt64, _ member: UInt64) -> Bool {
        if let topic = topics.byID[id] { return topic.owner == member && topic.term == term }
        return subscriptions[id]?.owner == member
    }

    /// The log contains the events of a session up to this number.
    private mutating func processed(_ number: UInt64, of id: String) {
        guard let client = subscriptions[id]?.carrier, let session = sessions[client] else { return }
        sessions[client]?.processed = max(session.processed, number)
    }

    mutating func note(_ change: Change, by member: UInt64) {
        switch change {
        case .client(let id, .added(let status)):
            clients[id.rawValue] = ClientEntry(owner: member, status: status, madeAt: position)
        case .client(let id, .removed):
            clients[id.rawValue] = nil
            specified[id.rawValue] = nil
            sessions[id.rawValue] = nil
        case .client(let id, .event(.status(let status, _))): clients[id.rawValue]?.status = status
        case .client(_, .event): break
        case .subscription(let id, .added(let properties)):
            subscriptions[id.rawValue] = SubscriptionEntry(properties: properties, owner: member, madeAt: position)
        case .subscription(let id, .removed):
            subscriptions[id.rawValue] = nil
            specified[id.rawValue] = nil
        case .subscription(let id, let change): subscriptions[id.rawValue]?.note(change)
        }
    }
}

/// The entries of a ledger for subscriptions and clients.
extension ClusterLedger {
    /// The state of a subscription, as far as the ledger needs it for its decisions.
    package struct SubscriptionEntry: Sendable, Equatable {
        package private(set) var properties: SubscriptionProperties
        /// The member that owns it; nil for a shared one.
        package internal(set) var owner: UInt64?
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0
        package private(set) var isActive = false
        package private(set) var carrier: String?
        /// The layout of its updates; nil while it is not subscribed.
        package internal(set) var layout: SubscriptionLayout?
        /// The number of a shared one in the session of its carrier; nil: it cannot be continued.
        var number: UInt64?

        static let wire = Wire<Self>(
            ClusterLedger.SubscriptionEntry(properties: Wire<SubscriptionProperties>.blank),
            [
                Field(\.properties, .properties),
                Field(\.owner, .optional(.fixed64)),
                Field(\.madeAt, .varint),
                Field(\.isActive, .bool),
                Field(\.carrier, .optional(.string)),
                Field(\.number, .optional(.varint)),
                Field(\.layout, .optional(.confirmed)) { entry, layout in
                    guard let layout else { return }
                    entry.layout = SubscriptionLayout(
                        entry.properties,
                        fieldCount: layout.fieldCount,
                        keyPosition: layout.keyPosition,
                        commandPosition: layout.commandPosition
                    )
                },
            ]
        )

        mutating func note(_ change: SubscriptionChange) {
            switch change {
            case .added, .removed: break
            case .propertiesChanged(let changed): properties = changed
            case .carried(let client):
                if carrier != client?.rawValue { number = nil }
                carrier = client?.rawValue
                if client != nil { isActive = true }
            case .activity(let isActive): self.isActive = isActive
            case .event(.subscribed(_, let fields, let key, let command)):
                isActive = true
                layout = SubscriptionLayout(properties, fieldCount: fields, keyPosition: key, commandPosition: command)
            case .event(.unsubscribed(isFinal: true)), .event(.failed): (layout, number, isActive) = (nil, nil, false)
            case .event(.unsubscribed): (layout, number) = (nil, nil)
            case .event: break
            }
        }
    }

    /// A client of a member.
    package struct ClientEntry: Sendable, Equatable {
        package internal(set) var owner: UInt64
        package var status: ClientStatus
        /// The position at which it was added.
        package internal(set) var madeAt: UInt64 = 0

        static let wire = Wire<Self>(Self.init, (\.owner, .fixed64), (\.status, .raw(.string)), (\.madeAt, .varint))
    }
}
