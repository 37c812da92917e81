internal import Changes
internal import SessionCore

/// The streams of a hub, from their admission to their ends.
struct StreamTable: Sendable {
    var queues = ShardQueues()
    /// The beginnings of streams, by their outcomes.
    private(set) var beginnings: [ResumeOutcome: UInt64] = [:]
    private(set) var records: [String: StreamRecord] = [:]
    /// The streams that have a topic as a source.
    private var readers: [TopicID: Set<String>] = [:]
    /// How many streams have a client with its subscriptions as a source.
    private var followers: [ClientID: Int] = [:]
    /// When streams last ceased to read a source.
    private var ends: [StreamSource: Moment] = [:]
    private var owners = StreamOwners()
    private var admitted: UInt64 = 0

    // MARK: - Admission and end

    /// Admits a stream of known sources, with this id unless another stream has it; returns the id.
    mutating func admit(
        _ request: StreamRequest,
        id: String?,
        isWaiting: Bool,
        _ topics: TopicTable,
        now: Moment
    ) throws(HubError) -> String {
        try topics.check(request.sources)
        var id = id ?? makeID(topics)
        if records[id] != nil { id = makeID(topics) }
        records[id] = StreamRecord(
            id: id,
            request: request,
            openedAt: now,
            memory: owners.add(request.owner),
            isWaiting: isWaiting
        )
        add(id, to: request.sources)
        return id
    }

    private mutating func add(_ id: String, to sources: [StreamSource]) {
        for source in sources {
            readers[source.topic, default: []].insert(id)
            if case .client(let client, withSubscriptions: true) = source { followers[client, default: 0] += 1 }
        }
    }

    private mutating func makeID(_ topics: TopicTable) -> String {
        admitted += 1
        return "stream-\(topics.numbers.epoch)-\(admitted)"
    }

    /// Removes a stream that is over, or was never opened.
    mutating func discard(_ id: String, now: Moment) {
        guard var stream = records.removeValue(forKey: id) else { return }
        owners.remove(stream.request.owner)
        remove(id, from: stream.request.sources, now: now)
        stream.leaveChannels()
        if let shard = stream.shard { queues.drop(id, of: shard) }
    }

    private mutating func remove(_ id: String, from sources: [StreamSource], now: Moment) {
        for source in sources {
            ends[source] = now
            readers[source.topic]?.remove(id)
            if readers[source.topic]?.isEmpty == true { readers[source.topic] = nil }
            if case .client(let client, withSubscriptions: true) = source, let count = followers[client] {
                followers[client] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// The streams that have one of these topics as a source.
    func reading(_ topics: [TopicID]) -> Set<String> {
        var streams: Set<String> = []
        for topic in topics { if let readers = readers[topic] { streams.formUnion(readers) } }
        return streams
    }

    /// When streams last ceased to read a subscription, as a source or with all subscriptions of the carrying client:
    /// `Moment.never` while one reads it, nil if none has.
    func lastRead(subscription id: SubscriptionID, _ topics: TopicTable) -> Moment? {
        if readers[.subscription(id)] != nil { return .never }
        let end = ends[.subscription(id)]
        guard let client = topics.subscriptions[id]?.client else { return end }
        if followers[client] != nil { return .never }
        guard let clientEnd = ends[.client(client, withSubscriptions: true)] else { return end }
        return max(clientEnd, end ?? clientEnd)
    }

    /// When streams last ceased to read a client as a source: `Moment.never` while one reads it, nil if none has.
    func lastRead(client id: ClientID) -> Moment? {
        if readers[.client(id)] != nil { return .never }
        return [false, true].compactMap { ends[.client(id, withSubscriptions: $0)] }.max()
    }

    // MARK: - Opening

    /// A shard opens a stream; returns its record and first changes, or nil for an unknown stream or one that was opened.
    mutating func attach(
        _ id: String,
        to shard: Int,
        retryMilliseconds: Int,
        _ topics: inout TopicTable
    ) -> (StreamRecord, [StreamChange])? {
        guard let index = records.index(forKey: id), records.values[index].shard == nil else { return nil }
        let changes = records.values[index].attach(to: shard, retryMilliseconds: retryMilliseconds, &topics)
        if let outcome = records.values[index].outcome { beginnings[outcome, default: 0] &+= 1 }
        return (records.values[index], changes)
    }

    mutating func begin(_ id: String, _ topics: inout TopicTable) {
        guard let stream = records[id], stream.isWaiting else { return }
        if let shard = stream.shard { queues.drop(id, of: shard) }
        if update(id, { $0.begin(&topics) }), let outcome = records[id]?.outcome {
            beginnings[outcome, default: 0] &+= 1
        }
    }

    /// Begins all streams again in another epoch.
    mutating func restart(_ topics: inout TopicTable) {
        for id in records.keys.sorted() where update(id, { $0.restart(&topics) }) {
            beginnings[.gap, default: 0] &+= 1
        }
    }

    // MARK: - Changes

    /// Changes a stream, and passes the changes that follow to its shard; returns whether there are any.
    @discardableResult
    private mutating func update(_ id: String, _ change: (inout StreamRecord) -> [StreamChange]) -> Bool {
        // Changed in place: a copy of the record would cause another one of its channels.
        guard let index = records.index(forKey: id) else { return false }
        let changes = change(&records.values[index])
        guard let shard = records.values[index].shard, !changes.isEmpty else { return false }
        queues.add(changes, to: id, of: shard)
        return true
    }

    /// Changes the sources of a stream; those that are added have to be known.
    mutating func change(
        _ id: String,
        add: [StreamSource],
        remove: [StreamSource],
        _ types: FieldTypes,
        _ filter: (any SubscriptionFilter)?,
        _ topics: inout TopicTable,
        now: Moment
    ) throws(HubError) {
        guard let stream = records[id] else { throw .unknownStream(id) }
        try topics.check(add)
        let former = stream.request.sources
        let removed = Set(remove)
        var sources = former.filter { !removed.contains($0) }
        var present = Set(sources)
        sources += add.filter { present.insert($0).inserted }
        self.remove(id, from: former, now: now)
        self.add(id, to: sources)
        update(id) { $0.change(to: sources, types, filter, &topics) }
    }

    /// Makes the streams of a subscription, and of its former and present client, read the channels that they need since
    /// another client carries the subscription, or none, or the subscription is gone and no longer a source. Only channels of
    /// the subscription and of these clients are considered: a stream may have thousands of sources.
    mutating func reconcile(_ id: SubscriptionID, _ channel: Channel, from former: ClientID?, _ topics: TopicTable) {
        let record = topics.subscriptions[id]
        var clients: [ClientID] = []
        if let former { clients.append(former) }
        if let present = record?.client, !clients.contains(present) { clients.append(present) }
        var concerned: [TopicID] = [.subscription(id)]
        for client in clients { concerned.append(.client(client)) }
        let streams = reading(concerned)
        if record == nil {
            readers[.subscription(id)] = nil
            ends[.subscription(id)] = nil
        }
        if streams.isEmpty { return }
        let present = clients.compactMap { topics.clients[$0] }
        let channels = present.flatMap { [$0.connection, $0.legacy] } + [channel]
        for stream in streams {
            guard var request = records[stream]?.request else { continue }
            request.sources = sources(of: stream, about: id, clients, topics)
            let wanted = WantedChannels(of: request, in: topics, member: id)
            update(stream) { stream in
                if record != nil { return stream.reconcile(channels, wanted) }
                return stream.remove(.subscription(id), (channels, wanted), topics)
            }
        }
    }

    /// The sources of a stream because of which the stream may read a subscription, or the connections of clients: a few.
    private func sources(
        of stream: String,
        about id: SubscriptionID,
        _ clients: [ClientID],
        _ topics: TopicTable
    ) -> [StreamSource] {
        let all = records[stream]?.request.sources ?? []
        var sources: [StreamSource] = isReading(.subscription(id), stream) ? [.subscription(id)] : []
        for client in clients {
            if isReading(.client(client), stream) {
                sources += all.filter { $0.topic == .client(client) }
            } else if let member = member(of: client, in: all, of: stream, topics) {
                sources.append(.subscription(member))
            }
        }
        return sources
    }

    /// A subscription of a client that is a source of a stream; nil: none is.
    private func member(
        of client: ClientID,
        in sources: [StreamSource],
        of stream: String,
        _ topics: TopicTable
    ) -> SubscriptionID? {
        let members = topics.clients[client]?.places ?? [:]
        // The fewer ones are looked at; usually any subscription of the client is one of the stream, too.
        if members.count <= sources.count { return members.keys.first { isReading(.subscription($0), stream) } }
        for case .subscription(let id) in sources where topics.subscriptions[id]?.client == client { return id }
        return nil
    }

    private func isReading(_ topic: TopicID, _ stream: String) -> Bool { readers[topic]?.contains(stream) == true }

    /// Removes a client that is gone from the sources of these streams, and makes the streams read the channels that are left.
    mutating func remove(_ client: ClientID, from streams: Set<String>, _ topics: TopicTable) {
        readers[.client(client)] = nil
        followers[client] = nil
        ends[.client(client, withSubscriptions: true)] = nil
        ends[.client(client, withSubscriptions: false)] = nil
        for id in streams { update(id) { $0.remove(.client(client), nil, topics) } }
    }

    /// Delivers the state of a subscription to these streams, as far as they read the subscription.
    mutating func deliver(_ state: PresentState, to streams: Set<String>, _ topics: inout TopicTable) {
        for id in streams.sorted() { update(id) { $0.snapshot(of: state, &topics) } }
    }

    /// Closes a stream after the present events; false for an unknown one.
    mutating func close(_ id: String, reason: String, _ topics: TopicTable) -> Bool {
        update(id) { $0.close(reason, topics) }
        return records[id] != nil
    }

    /// Closes the streams that have joined a subscription and have no other source.
    mutating func closeJoined(to subscription: SubscriptionID, _ topics: TopicTable) {
        for id in reading([.subscription(subscription)]).sorted() {
            update(id) { $0.joined == nil ? [] : $0.close(StreamRecord.refused, topics) }
        }
    }
}
