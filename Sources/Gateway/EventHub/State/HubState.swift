internal import Changes
internal import SessionCore

/// The state under the hub's lock.
struct HubState: Sendable {
    let configuration: HubConfiguration
    /// The name of the numbering in ids.
    var epoch: String
    /// Whether the process is cut off from its cluster in this epoch.
    var isDegraded = false
    let numbering: EventNumbering
    var encoder: EventEncoder
    /// The sequence of the last event; with given numbers, that of the last position or change.
    var sequence: UInt64 = 0
    var clients: [ClientID: ClientRecord] = [:]
    var subscriptions: [SubscriptionID: SubscriptionRecord] = [:]
    var streams: [String: StreamRecord] = [:]
    var shards: [ShardRecord] = []
    var snapshotRanges = SnapshotRanges()
    /// The callers that wait for changes of subscriptions.
    var watches = SubscriptionWatches()
    let memory: StreamMemory
    var owners = StreamOwners()
    /// The memory of logs above which windows are dropped again.
    var nextShrink = 0
    /// Events published so far.
    var published: UInt64 = 0
    /// The beginnings of streams, by their outcomes.
    var beginnings: [ResumeOutcome: UInt64] = [:]
    /// The shards with changes since the last `takeWakeUps`.
    var wakeUps: UInt64 = 0
    private var channelCount = 0
    private var streamCount: UInt64 = 0

    /// The changes that a shard has to take over.
    struct ShardRecord: Sendable {
        /// Wakes its loop.
        let wake: @Sendable () -> Void
        /// The channels with new events.
        var dirtyChannels: [Channel] = []
        /// The streams with changes.
        var dirtyStreams: [String] = []
    }

    /// A hub without topics.
    init(
        configuration: HubConfiguration,
        epoch: String,
        numbering: EventNumbering,
        memory: StreamMemory = StreamMemory()
    ) {
        self.memory = memory
        self.configuration = configuration
        self.numbering = numbering
        self.epoch = epoch
        encoder = EventEncoder(epoch: epoch, refusalText: configuration.refusalText)
    }

    // MARK: - Topics

    mutating func addClient(_ id: ClientID, status: ClientStatus) {
        guard clients[id] == nil else { return }
        let context = TopicContext(client: id)
        clients[id] = ClientRecord(
            status: status,
            connection: makeChannel(context, hasWindow: true),
            own: makeChannel(context),
            legacy: makeChannel(context)
        )
    }

    mutating func addSubscription(_ id: SubscriptionID, properties: SubscriptionProperties) {
        guard subscriptions[id] == nil else { return }
        let context = TopicContext(subscription: id, client: nil, properties: properties)
        subscriptions[id] = SubscriptionRecord(
            properties: properties,
            channel: makeChannel(context),
            table: ValueTable(properties: properties, recentRows: configuration.recentRows)
        )
    }

    mutating func setProperties(_ properties: SubscriptionProperties, of id: SubscriptionID) {
        subscriptions[id]?.channel.snapshot = nil
        guard let client = subscriptions[id]?.client, let channel = subscriptions[id]?.channel else {
            subscriptions[id]?.properties = properties
            subscriptions[id]?.table = ValueTable(properties: properties, recentRows: configuration.recentRows)
            return
        }
        subscriptions[id]?.properties = properties
        channel.log.setContext(TopicContext(subscription: id, client: client, properties: properties))
    }

    private mutating func makeChannel(_ context: TopicContext, hasWindow: Bool = false) -> Channel {
        // With given numbers a stream may have received events of the same topic from another member.
        let hasWindow = numbering == .given ? true : hasWindow
        return makeChannel(TopicLog(context: context, createdAt: sequence, hasWindow: hasWindow, memory: memory))
    }

    mutating func makeChannel(_ log: TopicLog) -> Channel {
        channelCount += 1
        return Channel(id: channelCount, log: log)
    }

    mutating func carry(_ id: SubscriptionID, by client: ClientID?) {
        guard var subscription = subscriptions[id], client != nil || subscription.client != nil else { return }
        var affected = streamsReading(subscription)
        if let former = subscription.client { clients[former]?.remove(id, subscription.channel) }
        subscription.client = client
        subscription.channel.snapshot = nil
        if let client {
            subscription.isActive = true
            subscription.lastError = nil
            let context = TopicContext(subscription: id, client: client, properties: subscription.properties)
            subscription.channel.log.setContext(context)
            subscription.start = nil
            if let status = clients[client]?.status {
                subscription.start = SubscriptionStart(sequence: sequence, client: client, status: status)
            }
        }
        subscriptions[id] = subscription
        if let client { clients[client]?.add(id, subscription.channel) }
        affected.formUnion(streamsReading(subscription))
        for stream in affected { reconcile(stream, unread: .retire) }
    }

    mutating func removeSubscription(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id) else { return }
        if let client = subscription.client { clients[client]?.remove(id, subscription.channel) }
        let group = subscription.client.flatMap { clients[$0]?.streams } ?? []
        leave(subscription.streams.union(group)) { $0.topic == .subscription(id) }
    }

    mutating func removeClient(_ id: ClientID) {
        guard let client = clients.removeValue(forKey: id) else { return }
        let dependents = client.members.reduce(into: client.streams) { streams, member in
            streams.formUnion(subscriptions[member]?.streams ?? [])
        }
        leave(dependents) { $0.topic == .client(id) }
    }

    func streamsReading(_ subscription: SubscriptionRecord) -> Set<String> {
        guard let client = subscription.client, let streams = clients[client]?.streams else {
            return subscription.streams
        }
        return subscription.streams.union(streams)
    }

    /// Whether a stream carries a subscription.
    func isRead(subscription id: SubscriptionID) -> Bool {
        guard let record = subscriptions[id] else { return false }
        if !record.streams.isEmpty { return true }
        guard let client = record.client, let streams = clients[client]?.streams else { return false }
        let source = StreamSource.client(client, withSubscriptions: true)
        return streams.contains { self.streams[$0]?.request.sources.contains(source) ?? false }
    }

    /// Removes sources from streams. A stream whose last source is removed is closed.
    private mutating func leave(_ affected: Set<String>, where isGone: (StreamSource) -> Bool) {
        for id in affected {
            guard var stream = streams[id] else { continue }
            let hadSources = !stream.request.sources.isEmpty
            stream.request.sources.removeAll(where: isGone)
            streams[id] = stream
            reconcile(id, unread: .retire)
            if hadSources, stream.request.sources.isEmpty { _ = close(id, reason: "deleted") }
        }
    }

    mutating func makeStreamID() -> String {
        streamCount += 1
        return "stream-\(epoch)-\(streamCount)"
    }
}
