internal import Changes
internal import SessionCore

/// The first events of the subscriptions that were opened for a stream.
struct StreamStart {
    /// The states of the subscriptions before these events.
    private(set) var states: [SourceState] = []
    /// The channels of the events, with the sequences after which they are read.
    private(set) var channels: [(channel: Channel, sequence: UInt64)] = []

    /// The start of a stream all of whose sources are subscriptions that were opened for it; nil for other streams, and if
    /// the first events are no longer kept.
    ///
    /// A subscription that was not opened for the stream would need a snapshot, whose sequences follow the events so far:
    /// a reader that resumes with one of these events would not receive the snapshot.
    init?(of request: StreamRequest, in topics: TopicTable) {
        var records: [(id: SubscriptionID, mode: SubscriptionMode, channel: Channel, start: SubscriptionStart)] = []
        for source in request.sources {
            guard case .subscription(let id) = source, request.opened.contains(id),
                let record = topics.subscriptions[id], let start = record.start
            else { return nil }
            records.append((id, record.properties.mode, record.channel, start))
        }
        guard !records.isEmpty else { return nil }
        // A client is listed with its status at the first of its subscriptions: its later events follow.
        var first: [ClientID: SubscriptionStart] = [:]
        for (_, _, _, start) in records where start.sequence < first[start.client]?.sequence ?? .max {
            first[start.client] = start
        }
        for (name, start) in first {
            guard let client = topics.clients[name] else { return nil }
            channels.append((client.connection, start.sequence))
            if request.includesLegacy { channels.append((client.legacy, start.sequence)) }
        }
        for (id, mode, channel, start) in records {
            channels.append((channel, start.sequence))
            states.append(
                .subscription(
                    SubscriptionSourceState(
                        id: id,
                        mode: mode,
                        client: start.client,
                        status: first[start.client]?.status,
                        isActive: true,
                        lastError: nil
                    )
                )
            )
        }
        guard channels.allSatisfy({ $0.channel.log.position(after: $0.sequence) != nil }) else { return nil }
    }
}
