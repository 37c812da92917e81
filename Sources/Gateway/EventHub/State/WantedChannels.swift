internal import Changes
internal import SessionCore

/// A channel that a stream has to read.
struct WantedChannel {
    let channel: Channel
    /// The subscription whose present state a new reader gets.
    var subscription: SubscriptionID?
    /// Whether a client brings the subscription into the stream, and no source names the subscription.
    var isInGroup = false
}

/// The channels of a stream's sources, each once.
struct WantedChannels {
    private(set) var all: [WantedChannel] = []
    private(set) var ids: Set<Int> = []
    /// The subscriptions that clients of the sources have released, whose last events a stream that resumes has to read.
    private(set) var departed: [DepartedSubscription] = []
    /// Events of further released subscriptions up to this sequence are not kept.
    private var forgottenThrough: UInt64 = 0

    /// The channels of the sources of a request.
    ///
    /// - Parameter only: The subscription to look for among those of clients, but not among those that they have released; nil: all.
    init(of request: StreamRequest, in topics: TopicTable, member only: SubscriptionID? = nil) {
        for source in request.sources {
            switch source {
            case .subscription(let id):
                guard let subscription = topics.subscriptions[id] else { continue }
                if let client = subscription.client.flatMap({ topics.clients[$0] }) {
                    // As part of a group, so that a change of the client that carries the subscription causes no gap.
                    add(WantedChannel(channel: client.connection, isInGroup: true))
                    if request.includesLegacy { add(WantedChannel(channel: client.legacy, isInGroup: true)) }
                }
                add(WantedChannel(channel: subscription.channel, subscription: id))
            case .client(let id, let withSubscriptions):
                guard let client = topics.clients[id] else { continue }
                add(WantedChannel(channel: client.connection))
                add(WantedChannel(channel: client.own))
                if request.includesLegacy { add(WantedChannel(channel: client.legacy)) }
                guard withSubscriptions else { continue }
                for member in only.map({ [$0] }) ?? client.members {
                    guard let record = topics.subscriptions[member], record.client == id,
                        request.admits(record.properties, of: id)
                    else { continue }
                    add(WantedChannel(channel: record.channel, subscription: member, isInGroup: true))
                }
                guard only == nil else { continue }
                departed += client.departed.filter { request.admits($0.channel.log.context.properties, of: id) }
                forgottenThrough = max(forgottenThrough, client.forgottenThrough)
            }
        }
        if departed.isEmpty { return }
        // Several clients may have released a subscription one after the other.
        var known = ids
        departed = departed.sorted { $0.last > $1.last }.filter { known.insert($0.channel.id).inserted }
    }

    private mutating func add(_ wanted: WantedChannel) {
        if ids.insert(wanted.channel.id).inserted { all.append(wanted) }
    }

    /// The newest event that a reader of the channels has received before earlier ones, if the event is after a sequence. The
    /// rows of a reader that resumes from the sequence may be as new.
    func newestAhead(of sequence: UInt64) -> UInt64? {
        var newest = sequence
        for wanted in all { newest = max(newest, wanted.channel.newestAheadOfID.sequence) }
        for subscription in departed { newest = max(newest, subscription.channel.newestAheadOfID.sequence) }
        return newest > sequence ? newest : nil
    }

    /// The sequence from which a stream resumes, if it can.
    func resumePoint(of request: StreamRequest, _ numbers: EventNumbers) -> (outcome: ResumeOutcome, sequence: UInt64?)
    {
        guard let text = request.lastEventID, !text.isEmpty else {
            guard let since = request.since, !all.isEmpty else { return (.fresh, nil) }
            return resumePoint(since: since)
        }
        guard let id = EventID(text), numbers.isKnown(id) else { return (.gap, nil) }
        let added = request.addedAfter.flatMap { EventID($0) }
        if let added, added.epoch == id.epoch, id.sequence <= added.sequence { return (.gap, nil) }
        let isReachable = all.allSatisfy { wanted in
            // A channel of a group may be newer than the last event: it is read from its start. A source that was
            // requested by its own name and is newer cannot be the one that the last event came from.
            (wanted.isInGroup || wanted.channel.log.createdAt <= id.sequence)
                && wanted.channel.log.position(after: id.sequence) != nil
        }
        return isReachable && hasLastEvents(after: id.sequence) ? (.resumed, id.sequence) : (.gap, nil)
    }

    /// Whether all events of released subscriptions after a sequence are kept.
    private func hasLastEvents(after sequence: UInt64) -> Bool {
        forgottenThrough <= sequence
            && departed.allSatisfy { $0.last <= sequence || $0.channel.log.position(after: sequence) != nil }
    }

    /// The sequence of the last event before a time; a gap if events after that time are no longer kept.
    private func resumePoint(since: Moment) -> (outcome: ResumeOutcome, sequence: UInt64?) {
        var last: UInt64 = 0
        for wanted in all {
            guard let sequence = wanted.channel.log.sequence(before: since) else { return (.gap, nil) }
            last = max(last, sequence)
        }
        return hasLastEvents(after: last) ? (.resumed, last) : (.gap, nil)
    }

    /// A snapshot of the only subscription that another stream has received before the last few events, and with which a stream
    /// can start: the later events of the subscription are few compared with the snapshot and in the log, and the other
    /// channels, whose state the `stream` event has, have none.
    func recentSnapshot(of channel: Channel) -> Snapshot? {
        guard let snapshot = channel.snapshot, snapshot.context === channel.log.context,
            all.allSatisfy({ wanted in
                guard let count = wanted.channel.log.count(after: snapshot.sequences.last) else { return false }
                return count <= (wanted.channel === channel ? snapshot.content.count / 8 : 0)
            })
        else { return nil }
        return snapshot
    }

    /// The channel of the only subscription; nil if there are none or more.
    var onlyTable: Channel? {
        let tables = all.filter { $0.subscription != nil }
        return tables.count == 1 ? tables[0].channel : nil
    }
}

/// The present state of a subscription, without sequences.
struct PresentState {
    let channel: Channel
    let content: SnapshotContent
}

extension SourceState {
    /// The present state of a client or subscription; nil for an unknown one.
    init?(of topic: TopicID, in topics: TopicTable) {
        switch topic {
        case .client(let id):
            guard let client = topics.clients[id] else { return nil }
            self = .client(id: id, status: client.status, failure: client.failure)
        case .subscription(let id):
            guard let record = topics.subscriptions[id] else { return nil }
            let client = record.client.flatMap { topics.clients[$0] }
            self = .subscription(
                SubscriptionSourceState(
                    id: id,
                    mode: record.properties.mode,
                    client: record.client,
                    status: client?.status,
                    failure: client?.failure,
                    isActive: record.isActive,
                    lastError: record.lastError,
                    shape: SubscribedShape(of: record.table, record.channel.log.context)
                )
            )
        }
    }

    /// The state of a client or subscription that is not known.
    static func unknown(_ topic: TopicID) -> SourceState {
        switch topic {
        case .client(let id): .client(id: id, status: .disconnected)
        case .subscription(let id):
            .subscription(
                SubscriptionSourceState(id: id, mode: nil, client: nil, status: nil, isActive: false, lastError: nil)
            )
        }
    }
}

extension [SourceState] {
    /// The present state of the sources of a stream, in their order.
    init(of request: StreamRequest, in topics: TopicTable) {
        self = request.sources.flatMap { source -> [SourceState] in
            var present: [TopicID] = [source.topic]
            if case .client(let id, withSubscriptions: true) = source {
                let members = topics.clients[id]?.members ?? []
                present += members.filter { request.admits(topics.subscriptions[$0]?.properties, of: id) }
                    .map { .subscription($0) }
            }
            return present.compactMap { SourceState(of: $0, in: topics) }
        }
    }
}
