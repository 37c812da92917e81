internal import Changes
internal import SessionCore

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

extension ClusterLedger.SubscriptionEntry {
    fileprivate mutating func note(_ change: SubscriptionChange) {
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
