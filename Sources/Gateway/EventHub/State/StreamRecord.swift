internal import Changes
internal import SessionCore

/// The hub's record of a stream, with the sources and the channels that are read. Operations return the changes for the shard
/// of the stream.
struct StreamRecord: Sendable {
    /// The reason for which a stream ends whose only source was refused.
    static let refused = "refused"

    let id: String
    /// The request, with the present sources.
    private(set) var request: StreamRequest
    let openedAt: Moment
    let memory: StreamOwnerMemory
    /// Whether the stream waits for `begin`: until then, it reads nothing.
    private(set) var isWaiting: Bool
    let figures = StreamFigures()
    /// The epoch of the hub when the stream was attached.
    private(set) var epoch = ""
    /// The shard that writes the stream; nil until the HTTP server opened the stream.
    private(set) var shard: Int?
    /// The time that the client waits before it reconnects; nil until the HTTP server opens the stream.
    private var retryMilliseconds: Int?
    /// The outcome of the opening; nil until the stream is open.
    private(set) var outcome: ResumeOutcome?
    /// The channels that the stream reads, by their ids.
    private var reads: [Int: ReadChannel] = [:]
    /// The reason for which the stream is being closed; nil while it is not.
    private(set) var closeReason: String?

    private struct ReadChannel: Sendable {
        /// The hub's side.
        let channel: Channel
        let variant: EventVariant
        let local: ShardChannel
    }

    init(id: String, request: StreamRequest, openedAt: Moment, memory: StreamOwnerMemory, isWaiting: Bool) {
        self.id = id
        self.request = request
        self.openedAt = openedAt
        self.memory = memory
        self.isWaiting = isWaiting
    }

    var summary: StreamSummary {
        StreamSummary(id: id, request: request, openedAt: openedAt, figures: figures)
    }

    // MARK: - Opening

    /// A shard opens the stream: sets its first sequence, unless it waits.
    mutating func attach(to shard: Int, retryMilliseconds: Int?, _ topics: inout TopicTable) -> [StreamChange] {
        (self.shard, self.retryMilliseconds) = (shard, retryMilliseconds)
        if isWaiting { return closing(topics) }
        let wanted = WantedChannels(of: request, in: topics)
        let resumeFrom = wanted.resumePoint(of: request, topics.numbers)
        let start = resumeFrom.sequence == nil ? StreamStart(of: request, in: topics) : nil
        // The refusal may precede the stream that has caused the subscription.
        if closeReason == nil, let joined, let record = topics.subscriptions[joined], !record.isActive,
            record.lastError != nil
        {
            closeReason = Self.refused
        }
        (epoch, outcome) = (topics.numbers.epoch, resumeFrom.outcome)
        let states = start?.states ?? [SourceState](of: request, in: topics)
        var changes = [
            announcement(of: states, resumeFrom.outcome, topics.numbers, retryMilliseconds: retryMilliseconds)
        ]
        if let sequence = resumeFrom.sequence {
            changes += wanted.departed.flatMap {
                $0.channel.lastEvents(for: request, after: sequence, through: $0.last)
            }
            changes += wanted.all.compactMap { read($0.channel, after: sequence) }
            if request.lastEventID?.isEmpty == false {
                changes.append(.resume(through: topics.numbers.sequence, ahead: wanted.newestAhead(of: sequence)))
            }
        } else if let start {
            for (channel, sequence) in start.channels {
                changes +=
                    wanted.ids.contains(channel.id)
                    ? [read(channel, after: sequence)].compactMap(\.self)
                    : channel.lastEvents(for: request, after: sequence)
            }
        } else {
            changes += joinFirst(wanted, &topics)
        }
        return changes + closing(topics)
    }

    /// Begins a stream that waits: with the present sequence, or with the sequence from which the stream resumes.
    mutating func begin(_ topics: inout TopicTable) -> [StreamChange] {
        isWaiting = false
        guard let shard else { return [] }
        let changes = attach(to: shard, retryMilliseconds: retryMilliseconds, &topics)
        return [.restart(epoch: topics.numbers.epoch)] + changes
    }

    /// Begins again in another epoch, with outcome `gap` and the present state; has no effect before the stream has begun.
    mutating func restart(_ topics: inout TopicTable) -> [StreamChange] {
        guard !isWaiting, shard != nil else { return [] }
        leaveChannels()
        (epoch, outcome) = (topics.numbers.epoch, .gap)
        let changes = [
            .restart(epoch: epoch), announcement(of: [SourceState](of: request, in: topics), .gap, topics.numbers),
        ]
        if closeReason != nil { return changes }
        return changes + joinFirst(WantedChannels(of: request, in: topics), &topics)
    }

    private func announcement(
        of states: [SourceState],
        _ outcome: ResumeOutcome,
        _ numbers: EventNumbers,
        retryMilliseconds: Int? = nil
    ) -> StreamChange {
        let event = ControlEvent.stream(
            id: id,
            sources: states,
            resume: outcome,
            isDegraded: numbers.isDegraded,
            retryMilliseconds: retryMilliseconds
        )
        return .announce(event, after: numbers.lastEventSequence)
    }

    // MARK: - Sources

    /// Changes the sources, and the types of the fields of those that are added. A stream that is ending delivers neither the
    /// change nor further events.
    mutating func change(
        to sources: [StreamSource],
        _ types: FieldTypes,
        _ filter: (any SubscriptionFilter)?,
        _ topics: inout TopicTable
    ) -> [StreamChange] {
        let former = request
        request.sources = sources
        if let filter { request.filter = filter }
        let (before, after) = (Set(former.sources), Set(sources))
        for case .subscription(let gone) in former.sources where !after.contains(.subscription(gone)) {
            request.types[gone] = nil
        }
        // A subscription that the stream reads already keeps the form of its values.
        request.types.merge(types.filter { !before.contains(.subscription($0.key)) }) { $1 }
        guard shard != nil, !isWaiting, closeReason == nil else {
            if !after.isSubset(of: before) { request.addedAfter = topics.numbers.lastID.text }
            return []
        }
        var changes: [StreamChange] = request.types == former.types ? [] : [.types(request.types)]
        // Removed channels end before the announcement, added ones begin after it.
        let wanted = WantedChannels(of: request, in: topics)
        let left = leave(except: wanted)
        if !left.isEmpty { changes.append(.drop(left.map(\.local))) }
        changes.append(announcement(of: [SourceState](of: request, in: topics), .resumed, topics.numbers))
        return changes + join(wanted.all.filter { reads[$0.channel.id] == nil }, &topics)
    }

    /// Removes a topic that is gone from the sources. A stream whose last source is removed is closed.
    ///
    /// - Parameter affected: The channels that the stream may leave, and those that it wants; nil: any.
    mutating func remove(
        _ topic: TopicID,
        _ affected: (channels: [Channel], wanted: WantedChannels)?,
        _ topics: TopicTable
    ) -> [StreamChange] {
        let hadSources = !request.sources.isEmpty
        request.sources.removeAll { $0.topic == topic }
        let wanted = affected?.wanted ?? WantedChannels(of: request, in: topics)
        let channels = affected?.channels ?? reads.values.map(\.channel) + wanted.all.map(\.channel)
        let changes = reconcile(channels, wanted)
        return hadSources && request.sources.isEmpty ? changes + close("deleted", topics) : changes
    }

    /// The subscription that is the only source and that the request names by its properties: the stream ends when the server
    /// has refused the subscription. Streams of a subscription that a request has created stay open: another request may
    /// activate it again.
    var joined: SubscriptionID? {
        guard request.sources.count == 1, case .subscription(let id)? = request.sources.first else { return nil }
        return request.joined.contains(id) ? id : nil
    }

    /// Ends the stream after the present events, unless it is ending.
    mutating func close(_ reason: String, _ topics: TopicTable) -> [StreamChange] {
        guard closeReason == nil else { return [] }
        closeReason = reason
        return closing(topics)
    }

    private func closing(_ topics: TopicTable) -> [StreamChange] {
        guard let closeReason else { return [] }
        return [.close(reason: closeReason, after: topics.numbers.sequence)]
    }

    // MARK: - Channels

    /// Reads those of these channels that are wanted, from now on, and leaves the others, whose unread events are still delivered.
    mutating func reconcile(_ channels: [Channel], _ wanted: WantedChannels) -> [StreamChange] {
        let left = leave(channels.map(\.id).filter { !wanted.ids.contains($0) })
        let retired = left.map { StreamChange.retire($0.local, upTo: $0.channel.log.view) }
        return retired + channels.filter { wanted.ids.contains($0.id) }.compactMap { read($0, after: nil) }
    }

    mutating func leaveChannels() {
        guard let shard else { return }
        for read in reads.values { read.channel.removeReader(shard: shard, variant: read.variant) }
        reads = [:]
    }

    /// The state of a subscription, if the stream reads it.
    func snapshot(of state: PresentState, _ topics: inout TopicTable) -> [StreamChange] {
        reads[state.channel.id] == nil ? [] : topics.numbers.snapshots(of: [state], topics.memory)
    }

    private mutating func leave(except wanted: WantedChannels) -> [ReadChannel] {
        leave(reads.keys.filter { !wanted.ids.contains($0) })
    }

    /// Stops reading the channels of these ids that the stream reads.
    private mutating func leave(_ ids: [Int]) -> [ReadChannel] {
        guard let shard else { return [] }
        var left: [ReadChannel] = []
        for id in ids.sorted() {
            guard let read = reads.removeValue(forKey: id) else { continue }
            read.channel.removeReader(shard: shard, variant: read.variant)
            left.append(read)
        }
        return left
    }

    /// Reads a channel from after a sequence, or from now on.
    private mutating func read(_ channel: Channel, after sequence: UInt64?) -> StreamChange? {
        guard let shard, !isWaiting, reads[channel.id] == nil else { return nil }
        let variant = EventVariant(of: channel.log.context, in: request, request.types)
        if variant.isTyped, let subscription = channel.log.context.subscription {
            channel.log.types = request.types[subscription]
        }
        let local = channel.addReader(shard: shard, variant: variant)
        reads[channel.id] = ReadChannel(channel: channel, variant: variant, local: local)
        let position = sequence.flatMap { channel.log.position(after: $0) } ?? channel.log.end
        return .read(local, as: variant, from: position, upTo: channel.log.view)
    }

    /// Reads channels, as the first ones, after the present state of their subscriptions, or after one that another stream
    /// has received before the last few events.
    private mutating func joinFirst(_ wanted: WantedChannels, _ topics: inout TopicTable) -> [StreamChange] {
        guard let table = wanted.onlyTable else { return join(wanted.all, &topics) }
        if let snapshot = wanted.recentSnapshot(of: table) {
            snapshot.share()
            let last = snapshot.sequences.last
            return wanted.all.compactMap { read($0.channel, after: $0.channel === table ? last : nil) }
                + [.snapshot(snapshot)]
        }
        let changes = join(wanted.all, &topics)
        if case .snapshot(let snapshot)? = changes.last, snapshot.content.count >= Snapshot.leastKept {
            table.snapshot = snapshot
        }
        return changes
    }

    /// Reads channels from now on, after the present state of their subscriptions.
    private mutating func join(_ wanted: [WantedChannel], _ topics: inout TopicTable) -> [StreamChange] {
        var changes: [StreamChange] = []
        var states: [PresentState] = []
        for wanted in wanted {
            if let change = read(wanted.channel, after: nil) { changes.append(change) }
            guard let id = wanted.subscription, let record = topics.subscriptions[id] else { continue }
            states.append(PresentState(channel: record.channel, content: SnapshotContent(ofValues: record.table)))
        }
        // All channels are read from the same place in the sequence, so the snapshots may follow after all of them.
        return changes + topics.numbers.snapshots(of: states, topics.memory)
    }
}

/// A change of a stream for its shard, in order.
enum StreamChange: Sendable {
    /// The types of the fields of its subscriptions, from now on.
    case types(FieldTypes)
    /// Read a channel in a variant, from a position on; it may be read up to the view.
    case read(ShardChannel, as: EventVariant, from: LogPosition, upTo: LogView)
    /// Read a channel to its end, which is the view, and no further.
    case retire(ShardChannel, upTo: LogView)
    /// Rows of the unread events up to a sequence may have been received already. Conflate the events up to `ahead`: rows of the
    /// reader may be as new.
    case resume(through: UInt64, ahead: UInt64?)
    /// Stop reading channels, and drop their undelivered events.
    case drop([ShardChannel])
    /// Deliver the present state of a subscription.
    case snapshot(Snapshot)
    /// Deliver an event of the gateway, behind all events up to a sequence.
    case announce(ControlEvent, after: UInt64)
    /// Deliver all events up to a sequence and the reason, then end.
    case close(reason: String, after: UInt64)
    /// Drop all undelivered events and stop reading all channels; later ids have another epoch.
    case restart(epoch: String)
}
