internal import Changes
internal import Primitives
internal import SessionCore

extension HubState {
    /// Applies a change.
    mutating func apply(_ change: Change, now: Moment) {
        switch change {
        case .client(let id, let change): apply(change, of: id, now: now)
        case .subscription(let id, let change): apply(change, of: id, now: now)
        }
    }

    private mutating func apply(_ change: ClientChange, of id: ClientID, now: Moment) {
        switch change {
        case .added(let status): addClient(id, status: status)
        case .removed: removeClient(id)
        case .event(let event):
            if case .status(let status, let failure) = event {
                clients[id]?.changed(status, failure)
                // The values of the client's subscriptions become stale, or fresh again.
                if !watches.watches.isEmpty { for member in clients[id]?.members ?? [] { watches.changed(member) } }
            }
            guard let client = clients[id] else { return }
            append(.client(event), to: client.channel(of: event), now: now)
        }
    }

    private mutating func apply(_ change: SubscriptionChange, of id: SubscriptionID, now: Moment) {
        if case .event(let event) = change { return apply(event, of: id, now: now) }
        if !watches.watches.isEmpty { watches.changed(id) }
        switch change {
        case .added(let properties): addSubscription(id, properties: properties)
        case .removed: removeSubscription(id)
        case .propertiesChanged(let properties): setProperties(properties, of: id)
        case .carried(let client): carry(id, by: client)
        case .activity(let isActive):
            subscriptions[id]?.isActive = isActive
            if isActive { subscriptions[id]?.lastError = nil }
        case .event: break
        }
    }

    /// Applies an event of a subscription.
    mutating func apply(_ event: SubscriptionEvent, of id: SubscriptionID, now: Moment) {
        if !watches.watches.isEmpty { watches.changed(id) }
        // Changed in place: a copy of the record costs more than the rest, and a second reference to its table
        // causes another copy.
        guard let index = subscriptions.index(forKey: id) else { return }
        if case .update(let update) = event {
            subscriptions.values[index].table.apply(update, at: now)
            return append(.subscription(event), to: subscriptions.values[index].channel, now: now)
        }
        let wasSubscribed = subscriptions.values[index].table.isSubscribed
        subscriptions.values[index].channel.snapshot = nil
        let channel = subscriptions.values[index].apply(event, now: now)
        append(.subscription(event), to: channel, now: now)
        switch event {
        case .failed: if !wasSubscribed { endStreams(of: id) }
        case .unsubscribed(isFinal: true): if subscriptions[id]?.lastError != nil { endStreams(of: id) }
        default: break
        }
    }

    /// A client carries a subscription from now on, with these values.
    mutating func carry(_ id: SubscriptionID, by client: ClientID, _ values: ValueTable?, now: Moment) {
        apply(.subscription(id, .carried(by: client)), now: now)
        guard let values, values.isSubscribed, let channel = subscriptions[id]?.channel else { return }
        guard channel.log.canSkip(weight: values.weight) else {
            for event in values.eventsFromStart { apply(event, of: id, now: now) }
            return
        }
        for event in values.firstEvents { apply(event, of: id, now: now) }
        subscriptions[id]?.table.takeValues(of: values)
        if numbering == .counted { sequence += 1 }
        channel.log.pass(through: sequence)
    }

    /// Applies the changes of a position, which has to be after the present one.
    mutating func apply(_ changes: some Sequence<NumberedChange>, at position: UInt64, now: Moment) {
        precondition(numbering == .given, "this hub counts its events")
        for numbered in changes {
            sequence = EventNumber.number(position: position, index: numbered.index)
            apply(numbered.change, now: now)
        }
        sequence = EventNumber.number(position: position, index: EventNumber.complete)
    }

    /// Ends the streams whose only source, which they have joined, the server has refused or removed, after the last event
    /// about it: `failed`, or the `unsubscribed` that follows it if the subscription was subscribed. Streams of a
    /// subscription that a request has created stay open: another request may activate it again.
    private mutating func endStreams(of id: SubscriptionID) {
        for stream in subscriptions[id]?.streams.sorted() ?? [] {
            guard let request = streams[stream]?.request, request.sources == [.subscription(id)],
                request.joined.contains(id)
            else { continue }
            _ = close(stream, reason: Self.refused)
        }
    }

    /// The reason for which a stream ends whose only source was refused.
    static let refused = "refused"

    private mutating func append(_ event: HubEvent, to channel: Channel, now: Moment) {
        if numbering == .counted { sequence += 1 }
        published &+= 1
        if channel.log.keepsEvents {
            channel.log.append(event, sequence: sequence, now: now, encoder: &encoder, limits: configuration)
        } else {
            channel.log.pass(through: sequence)
        }
        if memory.isExceeded { shrinkWindows() }
        if let snapshot = channel.snapshot, snapshot.sequences.last < channel.log.forgottenThrough {
            channel.snapshot = nil
        }
        markDirty(channel)
    }

    // MARK: - Waking

    /// Marks a channel as having a new event.
    mutating func markDirty(_ channel: Channel) {
        for index in channel.interests.indices where channel.interests[index]?.isDirty == false {
            channel.interests[index]?.isDirty = true
            shards[index].dirtyChannels.append(channel)
            wakeUps |= 1 << UInt64(index & 63)
        }
    }

    /// Passes changes to the shard of a stream; the only change of a stream that waits is its end.
    mutating func send(_ changes: [StreamChange], to stream: String) {
        if streams[stream]?.isWaiting == true, streams[stream]?.closeReason == nil { return }
        guard let shard = streams[stream]?.shard, let wasEmpty = streams[stream]?.changes.isEmpty, !changes.isEmpty
        else { return }
        streams[stream]?.changes += changes
        if wasEmpty { shards[shard].dirtyStreams.append(stream) }
        wakeUps |= 1 << UInt64(shard & 63)
    }

    /// Whether no more than a few streams of a shard have new events, and none has changes. A stream counts once for
    /// each of its channels.
    func hasAtMost(_ limit: Int, dueIn shard: Int) -> Bool {
        guard shards[shard].dirtyStreams.isEmpty else { return false }
        var readers = 0
        for channel in shards[shard].dirtyChannels {
            readers += channel.interests[shard]?.readers ?? 0
            if readers > limit { return false }
        }
        return true
    }

    /// The loops to wake after the lock is released.
    ///
    /// Usually one loop, for which nothing is allocated.
    mutating func takeWakeUps() -> (@Sendable () -> Void)? {
        if wakeUps == 0, watches.due.isEmpty { return nil }
        defer { wakeUps = 0 }
        if wakeUps.nonzeroBitCount == 1, shards.count <= 64, watches.due.isEmpty {
            return shards[wakeUps.trailingZeroBitCount].wake
        }
        let loops = shards.indices.filter { wakeUps & (1 << UInt64($0 & 63)) != 0 }.map { shards[$0].wake }
        let calls = watches.takeDue() + loops
        return { for call in calls { call() } }
    }
}

extension SubscriptionRecord {
    /// Applies an event of the subscription; returns the channel for it.
    @discardableResult
    mutating func apply(_ change: SubscriptionEvent, now: Moment) -> Channel {
        table.apply(change, at: now)
        switch change {
        case .subscribed:
            isActive = true
            lastError = nil
        case .failed:
            isActive = false
            lastError = UpstreamRefusal(change)
        case .unsubscribed(isFinal: true):
            isActive = false
        default: break
        }
        return channel
    }
}

extension ClientRecord {
    /// The channel of an event of the client.
    func channel(of event: ClientTopicEvent) -> Channel {
        switch event {
        case .status, .serverError: connection
        case .property, .message: own
        case .legacy, .sessionStarted, .bytesReceived, .activityWarning: legacy
        }
    }
}
