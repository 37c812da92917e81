internal import Changes
internal import SessionCore

/// The clients and subscriptions of a hub: their channels, the numbers of their events, and their present state.
struct TopicTable: Sendable {
    var numbers: EventNumbers
    private(set) var clients: [ClientID: ClientRecord] = [:]
    private(set) var subscriptions: [SubscriptionID: SubscriptionRecord] = [:]
    private var channelCount = 0
    private let recentRows: Int
    let memory: StreamMemory

    init(numbers: EventNumbers, recentRows: Int, memory: StreamMemory) {
        self.numbers = numbers
        self.recentRows = recentRows
        self.memory = memory
    }

    // MARK: - Clients

    /// Adds a client, unless it is known.
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

    mutating func changed(_ status: ClientStatus, _ failure: LastFailure?, of id: ClientID) {
        clients[id]?.status = status
        clients[id]?.failure = failure
    }

    mutating func remove(_ id: ClientID) -> ClientRecord? { clients.removeValue(forKey: id) }

    // MARK: - Subscriptions

    /// Adds a subscription, unless it is known.
    mutating func addSubscription(_ id: SubscriptionID, properties: SubscriptionProperties) {
        guard subscriptions[id] == nil else { return }
        let context = TopicContext(subscription: id, client: nil, properties: properties)
        subscriptions[id] = SubscriptionRecord(
            properties: properties,
            channel: makeChannel(context),
            table: ValueTable(properties: properties, recentRows: recentRows)
        )
    }

    mutating func setProperties(_ properties: SubscriptionProperties, of id: SubscriptionID) {
        guard let channel = subscriptions[id]?.channel else { return }
        channel.snapshot = nil
        subscriptions[id]?.properties = properties
        guard let client = subscriptions[id]?.client else { return clearValues(of: id) }
        channel.log.setContext(TopicContext(subscription: id, client: client, properties: properties))
    }

    mutating func setActive(_ isActive: Bool, _ id: SubscriptionID) {
        subscriptions[id]?.isActive = isActive
        if isActive { subscriptions[id]?.lastError = nil }
    }

    /// Applies an event of a subscription; returns its channel, and whether the event is the last one about a
    /// subscription that the server has refused or removed; nil for an unknown subscription.
    mutating func apply(
        _ event: SubscriptionEvent,
        of id: SubscriptionID,
        now: Moment
    ) -> (channel: Channel, isRefusal: Bool)? {
        // Changed and read in place: a copy of the record costs more than the rest, and a second reference to its table
        // causes another copy.
        guard let index = subscriptions.index(forKey: id) else { return nil }
        if case .update(let update) = event {
            let channel = { (record: inout SubscriptionRecord) in
                record.table.apply(update, at: now)
                return record.channel
            }(&subscriptions.values[index])
            return (channel, false)
        }
        let isRefusal = subscriptions.values[index].apply(event, now: now)
        return (subscriptions.values[index].channel, isRefusal)
    }

    mutating func takeValues(_ values: ValueTable, of id: SubscriptionID) {
        subscriptions[id]?.table.takeValues(of: values)
    }

    mutating func clearValues(of id: SubscriptionID) {
        guard let properties = subscriptions[id]?.properties else { return }
        subscriptions[id]?.table = ValueTable(properties: properties, recentRows: recentRows)
    }

    /// A client, or none, carries a subscription; false if nothing changes.
    mutating func carry(_ id: SubscriptionID, by client: ClientID?) -> Bool {
        guard var subscription = subscriptions[id], client != nil || subscription.client != nil else { return false }
        if let former = subscription.client { clients[former]?.remove(id, subscription.channel) }
        subscription.client = client
        subscription.channel.snapshot = nil
        if let client {
            subscription.isActive = true
            subscription.lastError = nil
            let (former, properties) = (subscription.channel.log.context, subscription.properties)
            let naming = former.properties == properties ? former.naming : nil
            let context = TopicContext(subscription: id, client: client, properties: properties, naming: naming)
            subscription.channel.log.setContext(context)
            subscription.start = nil
            if let status = clients[client]?.status {
                subscription.start = SubscriptionStart(sequence: numbers.sequence, client: client, status: status)
            }
            clients[client]?.add(id, subscription.channel)
        }
        subscriptions[id] = subscription
        return true
    }

    mutating func remove(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id), let client = subscription.client else { return }
        clients[client]?.remove(id, subscription.channel)
    }

    // MARK: - Channels

    private mutating func makeChannel(_ context: TopicContext, hasWindow: Bool = false) -> Channel {
        // With given numbers a stream may have received events of the same topic from another member.
        let hasWindow = numbers.numbering == .given ? true : hasWindow
        let log = TopicLog(context: context, createdAt: numbers.sequence, hasWindow: hasWindow, memory: memory)
        channelCount += 1
        return Channel(id: channelCount, log: log)
    }

    /// All channels, some of them twice.
    var channels: [Channel] {
        clients.values.reduce(into: subscriptions.values.map(\.channel)) {
            $0 += $1.channels + $1.departed.map(\.channel)
        }
    }

    /// Drops the events of all logs. Their topics may be older than the present sequence.
    mutating func forgetEvents() {
        for channel in channels { channel.forgetEvents(through: numbers.sequence) }
        for id in clients.keys { clients[id]?.forgetDeparted() }
    }

    /// Drops the events of a topic, whose first events happened in another hub.
    mutating func forgetEvents(of topic: TopicID) {
        switch topic {
        case .client(let id):
            for channel in clients[id]?.channels ?? [] { channel.forgetEvents(through: numbers.sequence) }
        case .subscription(let id):
            subscriptions[id]?.channel.forgetEvents(through: numbers.sequence)
            subscriptions[id]?.start = nil
        }
    }

    /// The sequences, up to `sequence`, after which all events of a topic are known: for a subscription one sequence; for a client
    /// a sequence for each of its channels, and one for the subscriptions that the client does not carry at `sequence`.
    ///
    /// - Parameter isCarried: Whether the client carries a subscription then.
    /// - Returns: Nil for an unknown topic.
    func lastEvents(
        of topic: TopicID,
        through sequence: UInt64,
        carrying isCarried: (SubscriptionID) -> Bool
    ) -> [UInt64]? {
        switch topic {
        case .client(let id):
            guard let client = clients[id] else { return nil }
            var forgotten = min(client.forgottenThrough, sequence)
            for (log, last) in client.departed.map({ ($0.channel.log, $0.last) }) {
                // A carried subscription was released later: its release follows.
                if last > sequence, let released = log.context.subscription, isCarried(released) { continue }
                forgotten = max(forgotten, min(last, log.lastSequence(through: sequence)))
            }
            for kept in client.places.keys where !isCarried(kept) {
                forgotten = max(forgotten, subscriptions[kept]?.channel.log.lastSequence(through: sequence) ?? 0)
            }
            return client.channels.map { $0.log.lastSequence(through: sequence) } + [forgotten]
        case .subscription(let id):
            return subscriptions[id].map { [$0.channel.log.lastSequence(through: sequence)] }
        }
    }

    /// Sets which events of a topic are not kept, from its `lastEvents` in a hub of the same epoch. There are no events yet, and no
    /// readers.
    mutating func setLastEvents(_ last: [UInt64], of topic: TopicID) {
        let last = last.map { min($0, numbers.sequence) }
        switch topic {
        case .client(let id):
            guard let client = clients[id], last.count == client.channels.count + 1 else { return }
            for (channel, sequence) in zip(client.channels, last) { channel.forgetEvents(through: sequence) }
            clients[id]?.forgottenThrough = last[client.channels.count]
        case .subscription(let id):
            guard let channel = subscriptions[id]?.channel, last.count == 1 else { return }
            channel.forgetEvents(through: last[0])
        }
    }

    /// Replaces the channels of the topics that a rebuilt table has; no stream reads them yet.
    mutating func take(_ rebuilt: TopicTable) {
        var taken: [Int: Channel] = [:]
        for (id, record) in rebuilt.subscriptions where subscriptions[id] != nil {
            let channel = take(record.channel, &taken)
            subscriptions[id]?.channel = channel
        }
        for (id, record) in rebuilt.clients {
            guard var client = clients[id] else { continue }
            client.connection = take(record.connection, &taken)
            client.own = take(record.own, &taken)
            client.legacy = take(record.legacy, &taken)
            client.departed = record.departed.map { departed in
                DepartedSubscription(channel: take(departed.channel, &taken), last: departed.last)
            }
            client.forgottenThrough = record.forgottenThrough
            clients[id] = client
        }
    }

    /// A channel of this table with the log of a rebuilt channel: the same one for each call.
    private mutating func take(_ rebuilt: Channel, _ taken: inout [Int: Channel]) -> Channel {
        if let channel = taken[rebuilt.id] { return channel }
        var log = rebuilt.log
        log.count(in: memory)
        channelCount += 1
        let channel = Channel(id: channelCount, log: log)
        taken[rebuilt.id] = channel
        return channel
    }

    // MARK: - Present state

    func check(_ sources: [StreamSource]) throws(HubError) {
        for source in sources where !knows(source.topic) { throw .unknownSource(source) }
    }

    func knows(_ topic: TopicID) -> Bool {
        switch topic {
        case .client(let id): clients[id] != nil
        case .subscription(let id): subscriptions[id] != nil
        }
    }

    /// The topics whose streams read events of a subscription: itself, and the client that carries it.
    func readable(_ id: SubscriptionID) -> [TopicID] {
        guard let client = subscriptions[id]?.client else { return [.subscription(id)] }
        return [.subscription(id), .client(client)]
    }

    /// The changes that lead from an unknown topic to its present state; nil for an unknown topic.
    func state(of topic: TopicID) -> [Change]? {
        switch topic {
        case .client(let id):
            return clients[id].map { [.client(id, .added($0.status))] }
        case .subscription(let id):
            return subscriptions[id]?.changes.map { .subscription(id, $0) }
        }
    }
}

/// The numbers of a hub's events, of one epoch at a time.
struct EventNumbers: Sendable {
    let numbering: EventNumbering
    /// The name of the numbering in ids.
    private(set) var epoch: String
    /// Whether the process is cut off from its cluster in this epoch.
    private(set) var isDegraded = false
    /// The sequence of the last event; with given numbers, that of the last position or change.
    private(set) var sequence: UInt64 = 0
    private var snapshotRanges = SnapshotRanges()

    init(_ numbering: EventNumbering, epoch: String) {
        self.numbering = numbering
        self.epoch = epoch
    }

    /// The sequence of the next event; with given numbers, that of the change.
    mutating func next() -> UInt64 {
        if numbering == .counted { sequence += 1 }
        return sequence
    }

    /// The next events are those of a change of a position; without an index, of later positions.
    mutating func move(to position: UInt64, index: UInt16 = EventNumber.complete) {
        precondition(numbering == .given, "this hub counts its events")
        sequence = EventNumber.number(position: position, index: index)
    }

    mutating func begin(epoch: String, at position: UInt64, isDegraded: Bool) {
        (self.epoch, self.isDegraded) = (epoch, isDegraded)
        move(to: position)
    }

    /// The greatest sequence that an event published so far can have; a snapshot taken now has greater sequences.
    var lastEventSequence: UInt64 {
        switch numbering {
        case .counted: sequence
        case .given: EventNumber.number(at: sequence, index: EventNumber.lastIndex)
        }
    }

    var lastID: EventID { EventID(epoch: epoch, sequence: sequence) }

    /// Whether a stream can resume from an event, as far as its id shows.
    func isKnown(_ id: EventID) -> Bool {
        guard id.epoch == epoch, id.sequence <= sequence else { return false }
        let isInsideSnapshot =
            switch numbering {
            case .counted: snapshotRanges.cuts(id.sequence)
            case .given: EventNumber.isInsideSnapshot(id.sequence)
            }
        return !isInsideSnapshot
    }

    /// Snapshots of these states, with the next sequences.
    mutating func snapshots(of states: [PresentState], _ memory: StreamMemory) -> [StreamChange] {
        let states = states.filter { $0.content.count > 0 }
        let start = sequence + 1
        var changes: [StreamChange] = []
        for (index, state) in states.enumerated() {
            let sequences: SnapshotSequences
            switch numbering {
            case .counted:
                let first = sequence + 1
                sequence += UInt64(state.content.count)
                sequences = SnapshotSequences(first: first, last: sequence, areRising: true)
            case .given:
                let inside = EventNumber.number(at: sequence, index: EventNumber.insideSnapshot)
                let complete = EventNumber.number(at: sequence, index: EventNumber.complete)
                let last = index == states.count - 1 ? complete : inside
                sequences = SnapshotSequences(first: inside, last: last, areRising: false)
            }
            let snapshot = Snapshot(
                channel: state.channel.id,
                context: state.channel.log.context,
                content: state.content,
                sequences: sequences,
                memory: memory
            )
            changes.append(.snapshot(snapshot))
        }
        if numbering == .counted, sequence > start { snapshotRanges.insert(start...sequence) }
        return changes
    }
}
