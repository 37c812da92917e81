internal import Primitives
internal import SessionCore

extension HubState {
    /// Applies a change.
    mutating func apply(_ change: HubChange, now: Moment) {
        switch change {
        case .clientAdded(let id, let status): addClient(id, status: status)
        case .clientRemoved(let id): removeClient(id)
        case .subscriptionAdded(let id, let properties): addSubscription(id, properties: properties)
        case .subscriptionRemoved(let id): removeSubscription(id)
        case .propertiesChanged(let id, let properties): setProperties(properties, of: id)
        case .carried(let id, let client): carry(id, by: client)
        case .activity(let id, let isActive):
            subscriptions[id]?.isActive = isActive
            if isActive { subscriptions[id]?.lastError = nil }
        case .event(let event, let topic): publish(event, to: topic, now: now)
        }
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

    /// Appends an event to the log of its topic and applies it to the topic's state. No effect if the topic is unknown.
    mutating func publish(_ event: HubEvent, to topic: TopicID, now: Moment) {
        switch topic {
        case .subscription(let id):
            guard case .subscription(let change) = event else { Self.refuse() }
            // Changed in place: a copy of the record costs more than the rest, and a second reference to its table
            // causes another copy.
            guard let index = subscriptions.index(forKey: id) else { return }
            let channel = subscriptions.values[index].apply(change, now: now)
            append(event, to: channel, now: now)
        case .client(let id):
            if case .status(let status) = event { clients[id]?.status = status }
            guard let client = clients[id] else { return }
            append(event, to: client.channel(of: event), now: now)
        }
    }

    private static func refuse() -> Never {
        preconditionFailure("an event was published to a topic of another kind")
    }

    private mutating func append(_ event: HubEvent, to channel: Channel, now: Moment) {
        if numbering == .counted { sequence += 1 }
        published &+= 1
        channel.log.append(event, sequence: sequence, now: now, encoder: &encoder, limits: configuration)
        markDirty(channel)
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
        case .failed, .unsubscribed(isFinal: true):
            isActive = false
            lastError = UpstreamRefusal(change)
        default: break
        }
        return channel
    }
}

extension ClientRecord {
    /// The channel of an event of the client.
    func channel(of event: HubEvent) -> Channel {
        switch event {
        case .status, .serverError: connection
        case .property, .message: own
        case .legacy: legacy
        case .subscription: preconditionFailure("an event was published to a topic of another kind")
        }
    }
}
