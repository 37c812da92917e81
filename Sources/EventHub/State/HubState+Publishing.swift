internal import SessionCore

extension HubState {
    /// Puts an event into the log of its topic; one for an unknown topic is late and goes nowhere.
    mutating func publish(_ event: HubEvent, to topic: TopicID, now: Moment) {
        switch (topic, event) {
        case (.subscription(let id), .subscription(let change)):
            // Not the whole record: a second reference to its table would make the table copy itself.
            guard let channel = subscriptions[id]?.channel else { return }
            apply(change, to: id, now: now)
            append(event, to: channel, now: now)
        case (.client(let id), .status(let status)):
            clients[id]?.status = status
            guard let client = clients[id] else { return }
            append(event, to: client.trouble, now: now)
            derive(from: event, id, now: now)
        case (.client(let id), .serverError):
            if let client = clients[id] { append(event, to: client.trouble, now: now) }
        case (.client(let id), .legacy(.bytesReceived(let count))):
            guard let sum = addBytes(count, to: id, now: now), let client = clients[id] else { return }
            append(.legacy(.bytesReceived(sum)), to: client.legacy, now: now)
        case (.client(let id), .legacy):
            if let client = clients[id] { append(event, to: client.legacy, now: now) }
        case (.client(let id), .property), (.client(let id), .message):
            guard let client = clients[id] else { return }
            append(event, to: client.own, now: now)
            derive(from: event, id, now: now)
        case (.subscription, _), (.client, .subscription):
            preconditionFailure("an event was published to a topic of another kind")
        }
    }

    private mutating func derive(from event: HubEvent, _ id: String, now: Moment) {
        guard let channel = clients[id]?.legacy, let derived = clients[id]?.derivation.events(for: event) else {
            return
        }
        for event in derived { append(.legacy(event), to: channel, now: now) }
    }

    private mutating func apply(_ change: SubscriptionEvent, to id: String, now: Moment) {
        subscriptions[id]?.table.apply(change, at: now)
        switch change {
        case .subscribed: subscriptions[id]?.isActive = true
        case .failed, .unsubscribed(isFinal: true): subscriptions[id]?.isActive = false
        default: break
        }
    }

    private mutating func append(_ event: HubEvent, to channel: Channel, now: Moment) {
        sequence += 1
        published &+= 1
        channel.log.append(event, sequence: sequence, now: now, encoder: &encoder, limits: configuration)
        markDirty(channel)
    }

    /// Adds up bytes; the sum is told at most once a second.
    private mutating func addBytes(_ count: Int, to id: String, now: Moment) -> Int? {
        guard var client = clients[id] else { return nil }
        defer { clients[id] = client }
        client.untoldBytes += count
        if let last = client.bytesToldAt, now - last < .seconds(1) { return nil }
        client.bytesToldAt = now
        defer { client.untoldBytes = 0 }
        return client.untoldBytes
    }
}
