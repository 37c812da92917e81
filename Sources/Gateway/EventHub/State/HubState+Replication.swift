internal import Changes
internal import Primitives
internal import SessionCore

/// Topics that enter and leave a hub with given numbers.
extension HubState {
    // MARK: - Transfer of topics

    /// The changes that lead from an unknown topic to its present state; nil for an unknown topic.
    func state(of topic: TopicID) -> [Change]? {
        switch topic {
        case .client(let id):
            return clients[id].map { [.client(id, .added($0.status))] }
        case .subscription(let id):
            guard let record = subscriptions[id] else { return nil }
            var changes: [SubscriptionChange] = [.added(record.properties)]
            if let client = record.client { changes.append(.carried(by: client)) }
            if let error = record.lastError {
                changes.append(.event(.failed(code: error.code, message: error.message)))
            }
            changes += record.table.eventsWithRows.map { .event($0) }
            changes.append(.activity(isActive: record.isActive))
            return changes.map { .subscription(id, $0) }
        }
    }

    /// Sets a topic to the state that it had in another hub at the present sequence. Nothing is appended to its log;
    /// streams that read it receive the state as a snapshot.
    mutating func adopt(_ topic: TopicID, _ changes: [Change], now: Moment) {
        if case .subscription(let id) = topic { watches.changed(id) }
        if case .subscription(let id) = topic, let record = subscriptions[id] {
            subscriptions[id]?.table = ValueTable(properties: record.properties, recentRows: configuration.recentRows)
        }
        for change in changes {
            switch change {
            case .client(let id, .added(let status)):
                addClient(id, status: status)
                clients[id]?.changed(status, nil)
            case .subscription(let id, .event(let event)): subscriptions[id]?.apply(event, now: now)
            default: apply(change, now: now)
            }
        }
        for channel in channels(of: topic) {
            channel.log.forget(through: sequence, createdAt: 0)
            channel.snapshot = nil
        }
        guard case .subscription(let id) = topic else { return }
        // Its first events happened in another hub.
        subscriptions[id]?.start = nil
        guard let record = subscriptions[id] else { return }
        let state = PresentState(channel: record.channel, content: SnapshotContent(fromStartOf: record.table))
        for stream in streamsReading(record).sorted() where streams[stream]?.reads[record.channel.id] != nil {
            send(numbered([state]), to: stream)
        }
    }

    /// Whether a topic is known.
    func knows(_ topic: TopicID) -> Bool {
        switch topic {
        case .client(let id): clients[id] != nil
        case .subscription(let id): subscriptions[id] != nil
        }
    }

    private func channels(of topic: TopicID) -> [Channel] {
        switch topic {
        case .client(let id): clients[id]?.channels ?? []
        case .subscription(let id): subscriptions[id].map { [$0.channel] } ?? []
        }
    }

    // MARK: - Epochs

    /// Begins another epoch at a position: drops the events of all logs and restarts every stream, with outcome `gap`
    /// and a fresh snapshot on the same connection.
    ///
    /// - Parameter windows: The windows of the topics at the position; nil: they begin there.
    mutating func restart(epoch: String, at position: UInt64, windows: RebuiltWindows?, isDegraded: Bool) {
        precondition(numbering == .given, "this hub counts its events")
        self.epoch = epoch
        self.isDegraded = isDegraded
        encoder.epoch = Array(epoch.utf8)
        sequence = EventNumber.number(position: position, index: EventNumber.complete)
        forgetEvents()
        if let windows { take(windows) }
        for id in streams.keys.sorted() { restart(stream: id) }
    }

    /// Drops the events of all logs. Their topics may be older than the present position.
    mutating func forgetEvents() {
        for client in clients.values {
            for channel in client.channels + client.departed { channel.log.forget(through: sequence, createdAt: 0) }
        }
        for subscription in subscriptions.values {
            subscription.channel.log.forget(through: sequence, createdAt: 0)
            subscription.channel.snapshot = nil
        }
    }

    private mutating func restart(stream id: String) {
        guard let stream = streams[id], !stream.isWaiting, let shard = stream.shard else { return }
        for read in stream.reads.values { read.channel.removeReader(shard: shard, variant: read.variant) }
        streams[id]?.reads = [:]
        streams[id]?.outcome = .gap
        beginnings[.gap, default: 0] &+= 1
        streams[id]?.epoch = epoch
        let announcement = ControlEvent.stream(
            id: id,
            sources: states(of: stream.request),
            resume: .gap,
            isDegraded: isDegraded,
            retryMilliseconds: nil
        )
        send([.restart(epoch: epoch), .announce(announcement, after: lastEventSequence)], to: id)
        if stream.closeReason == nil { send(joinFirst(channels(of: stream.request), in: id), to: id) }
    }
}
