internal import Changes
internal import Primitives
internal import SessionCore

/// The state under the hub's lock: applies changes to the topics and passes their events on to the streams.
struct HubState: Sendable {
    private let configuration: HubConfiguration
    private let memory: StreamMemory
    private(set) var encoder: EventEncoder
    var topics: TopicTable
    var streams = StreamTable()
    /// The callers that wait for changes of subscriptions.
    var watches = SubscriptionWatches()
    private var windows = WindowBudget()
    private(set) var published: UInt64 = 0

    init(
        configuration: HubConfiguration,
        epoch: String,
        numbering: EventNumbering,
        memory: StreamMemory = StreamMemory()
    ) {
        self.memory = memory
        self.configuration = configuration
        let numbers = EventNumbers(numbering, epoch: epoch)
        topics = TopicTable(numbers: numbers, recentRows: configuration.recentRows, memory: memory)
        encoder = EventEncoder(epoch: epoch, refusalText: configuration.refusalText)
    }

    // MARK: - Changes

    mutating func apply(_ change: Change, now: Moment) {
        switch change {
        case .client(let id, let change): apply(change, of: id, now: now)
        case .subscription(let id, let change): apply(change, of: id, now: now)
        }
    }

    private mutating func apply(_ change: ClientChange, of id: ClientID, now: Moment) {
        switch change {
        case .added(let status): topics.addClient(id, status: status)
        case .removed: removeClient(id)
        case .event(let event):
            if case .status(let status, let failure) = event {
                topics.changed(status, failure, of: id)
                // The values of the client's subscriptions become stale, or fresh again.
                if !watches.watches.isEmpty {
                    for (member, _) in topics.clients[id]?.places ?? [:] { watches.changed(member) }
                }
            }
            guard let client = topics.clients[id] else { return }
            append(.client(event), to: client.channel(of: event), now: now)
        }
    }

    private mutating func apply(_ change: SubscriptionChange, of id: SubscriptionID, now: Moment) {
        if case .event(let event) = change { return apply(event, of: id, now: now) }
        if !watches.watches.isEmpty { watches.changed(id) }
        switch change {
        case .added(let properties): topics.addSubscription(id, properties: properties)
        case .removed: removeSubscription(id)
        case .propertiesChanged(let properties): topics.setProperties(properties, of: id)
        case .carried(let client):
            let former = topics.subscriptions[id]?.client
            guard topics.carry(id, by: client), let channel = topics.subscriptions[id]?.channel else { return }
            streams.reconcile(id, channel, from: former, topics)
        case .activity(let isActive): topics.setActive(isActive, id)
        case .event: break
        }
    }

    mutating func apply(_ event: SubscriptionEvent, of id: SubscriptionID, now: Moment) {
        if !watches.watches.isEmpty { watches.changed(id) }
        guard let change = topics.apply(event, of: id, now: now) else { return }
        append(.subscription(event), to: change.channel, now: now)
        if change.isRefusal { streams.closeJoined(to: id, topics) }
    }

    /// Applies the changes of a position, which has to be after the present one.
    mutating func apply(_ changes: some Sequence<NumberedChange>, at position: UInt64, now: Moment) {
        for numbered in changes {
            topics.numbers.move(to: position, index: numbered.index)
            apply(numbered.change, now: now)
        }
        topics.numbers.move(to: position)
    }

    private mutating func append(_ event: HubEvent, to channel: Channel, now: Moment) {
        let sequence = topics.numbers.next()
        published &+= 1
        channel.log.append(event, sequence: sequence, now: now, encoder: &encoder, limits: configuration)
        if memory.isExceeded { windows.shrink(topics.channels, in: memory) }
        if let snapshot = channel.snapshot, snapshot.sequences.last < channel.log.forgottenThrough {
            channel.snapshot = nil
        }
        streams.queues.markDirty(channel)
    }

    // MARK: - Topics

    /// A client carries a subscription from now on, with these values.
    mutating func carry(_ id: SubscriptionID, by client: ClientID, _ values: ValueTable, now: Moment) {
        apply(.subscription(id, .carried(by: client)), now: now)
        guard let channel = topics.subscriptions[id]?.channel else { return }
        guard channel.log.canSkip(weight: values.weight) else {
            for event in values.eventsFromStart { apply(event, of: id, now: now) }
            return
        }
        for event in values.firstEvents { apply(event, of: id, now: now) }
        topics.takeValues(values, of: id)
        channel.log.pass(through: topics.numbers.next())
    }

    private mutating func removeSubscription(_ id: SubscriptionID) {
        guard let record = topics.subscriptions[id] else { return }
        topics.remove(id)
        streams.reconcile(id, record.channel, from: record.client, topics)
    }

    private mutating func removeClient(_ id: ClientID) {
        guard let client = topics.remove(id) else { return }
        let affected = streams.reading([.client(id)] + client.places.keys.map { .subscription($0) })
        streams.remove(id, from: affected, topics)
    }

    /// Sets a topic to the state that it had in another hub at the present sequence. Nothing is appended to its log;
    /// streams that read it receive the state as a snapshot.
    mutating func adopt(_ topic: TopicID, _ changes: [Change], now: Moment) {
        if case .subscription(let id) = topic {
            watches.changed(id)
            topics.clearValues(of: id)
        }
        for change in changes {
            switch change {
            case .client(let id, .added(let status)):
                topics.addClient(id, status: status)
                topics.changed(status, nil, of: id)
            case .subscription(let id, .event(let event)): _ = topics.apply(event, of: id, now: now)
            default: apply(change, now: now)
            }
        }
        topics.forgetEvents(of: topic)
        guard case .subscription(let id) = topic, let record = topics.subscriptions[id] else { return }
        let state = PresentState(channel: record.channel, content: SnapshotContent(fromStartOf: record.table))
        streams.deliver(state, to: streams.reading(topics.readable(id)), &topics)
    }

    /// Begins another epoch at a position: drops the events of all logs and restarts every stream, with outcome `gap`
    /// and a fresh snapshot on the same connection.
    ///
    /// - Parameter windows: The windows of the topics at the position; nil: they begin there.
    mutating func restart(epoch: String, at position: UInt64, windows: RebuiltWindows?, isDegraded: Bool) {
        topics.numbers.begin(epoch: epoch, at: position, isDegraded: isDegraded)
        encoder.epoch = Array(epoch.utf8)
        topics.forgetEvents()
        if let windows { topics.take(windows.topics) }
        streams.restart(&topics)
    }
}

/// The new events and changes that the shards have to take over.
struct ShardQueues: Sendable {
    private var shards: [Shard] = []
    /// The shards with changes since the last `takeWakeUps`.
    private var due: UInt64 = 0

    private struct Shard: Sendable {
        let wake: @Sendable () -> Void
        /// The channels with new events.
        var channels: [Channel] = []
        var streams: [String] = []
        var changes: [String: [StreamChange]] = [:]
    }

    /// Adds a shard; returns its index.
    mutating func addShard(wake: @escaping @Sendable () -> Void) -> Int {
        shards.append(Shard(wake: wake))
        return shards.count - 1
    }

    /// Marks a channel as having a new event.
    mutating func markDirty(_ channel: Channel) {
        for index in channel.interests.indices where channel.interests[index]?.isDirty == false {
            channel.interests[index]?.isDirty = true
            shards[index].channels.append(channel)
            due |= 1 << UInt64(index & 63)
        }
    }

    mutating func add(_ changes: [StreamChange], to stream: String, of shard: Int) {
        if shards[shard].changes[stream] == nil { shards[shard].streams.append(stream) }
        shards[shard].changes[stream, default: []] += changes
        due |= 1 << UInt64(shard & 63)
    }

    mutating func drop(_ stream: String, of shard: Int) { shards[shard].changes[stream] = nil }

    /// Takes the channels with new events, and the changes of streams in order. With a limit, returns nil if a stream has
    /// changes or more streams have new events; a stream counts once for each of its channels.
    ///
    /// - Parameter channels: Memory for the channels.
    mutating func takeOver(
        by shard: Int,
        ifAtMost limit: Int?,
        channels: inout [Channel],
        unseen: inout [UnseenChannel]
    ) -> [(String, [StreamChange])]? {
        if let limit {
            guard shards[shard].streams.isEmpty else { return nil }
            var readers = 0
            for channel in shards[shard].channels {
                readers += channel.interests[shard]?.readers ?? 0
                if readers > limit { return nil }
            }
        }
        channels.removeAll(keepingCapacity: true)
        swap(&channels, &shards[shard].channels)
        for channel in channels {
            guard var interest = channel.interests[shard] else { continue }
            unseen.append(UnseenChannel(channel: interest.local, seen: interest.local.view))
            interest.local.view = channel.log.view
            interest.isDirty = false
            channel.interests[shard] = interest.readers > 0 ? interest : nil
        }
        guard !shards[shard].streams.isEmpty else { return [] }
        var taken: [(String, [StreamChange])] = []
        for id in shards[shard].streams {
            if let changes = shards[shard].changes.removeValue(forKey: id) { taken.append((id, changes)) }
        }
        shards[shard].streams.removeAll(keepingCapacity: true)
        return taken
    }

    /// The calls to make after the lock is released: they wake loops, and callers that wait for changes.
    ///
    /// Usually one loop, for which nothing is allocated.
    mutating func takeWakeUps(_ watches: inout SubscriptionWatches) -> (@Sendable () -> Void)? {
        if due == 0, watches.due.isEmpty { return nil }
        defer { due = 0 }
        if due.nonzeroBitCount == 1, shards.count <= 64, watches.due.isEmpty {
            return shards[due.trailingZeroBitCount].wake
        }
        let loops = shards.indices.filter { due & (1 << UInt64($0 & 63)) != 0 }.map { shards[$0].wake }
        let calls = watches.takeDue() + loops
        return { for call in calls { call() } }
    }
}

/// A channel with new events, and the part of it that its shard has taken over.
struct UnseenChannel {
    let channel: ShardChannel
    /// The part without the new events.
    let seen: LogView
}
