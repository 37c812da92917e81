internal import Changes
internal import SessionCore

/// The channels that a stream reads, and the present state with which it begins.
extension HubState {
    /// Makes a stream that reads nothing yet read channels, after the present state of their subscriptions, or after one that
    /// another stream has received before the last few events.
    mutating func joinFirst(_ wanted: [WantedChannel], in id: String) -> [StreamChange] {
        let tables = wanted.filter { $0.subscription != nil }
        guard tables.count == 1, let channel = tables.first?.channel else { return join(wanted, in: id) }
        if let snapshot = channel.snapshot, isRecent(snapshot, of: channel, wanted) {
            snapshot.share()
            let last = snapshot.sequences.last
            return wanted.compactMap { read($0.channel, in: id, after: $0.channel === channel ? last : nil) }
                + [.snapshot(snapshot)]
        }
        let changes = join(wanted, in: id)
        if case .snapshot(let snapshot)? = changes.last, snapshot.content.count >= Snapshot.leastKept {
            channel.snapshot = snapshot
        }
        return changes
    }

    /// Whether a stream can start with a snapshot of an earlier one: the later events of the subscription are few compared
    /// with the snapshot and in the log, and the other channels, whose state the `stream` event has, have none.
    private func isRecent(_ snapshot: Snapshot, of channel: Channel, _ wanted: [WantedChannel]) -> Bool {
        guard snapshot.context === channel.log.context else { return false }
        return wanted.allSatisfy { wanted in
            guard let count = wanted.channel.log.count(after: snapshot.sequences.last) else { return false }
            return count <= (wanted.channel === channel ? snapshot.content.count / 8 : 0)
        }
    }

    /// Makes a stream read channels from now on, after the present state of their subscriptions.
    mutating func join(_ wanted: [WantedChannel], in id: String) -> [StreamChange] {
        var changes: [StreamChange] = []
        var states: [PresentState] = []
        for wanted in wanted {
            if let change = read(wanted.channel, in: id, after: nil) { changes.append(change) }
            guard let subscription = wanted.subscription, let record = subscriptions[subscription] else { continue }
            states.append(PresentState(channel: record.channel, content: SnapshotContent(ofValues: record.table)))
        }
        // All channels are read from the same place in the sequence, so the snapshots may follow after all of them.
        return changes + numbered(states)
    }

    /// The present state of a subscription, without sequences.
    struct PresentState {
        let channel: Channel
        let content: SnapshotContent
    }

    /// Assigns sequences to the events of snapshots.
    mutating func numbered(_ states: [PresentState]) -> [StreamChange] {
        let states = states.filter { $0.content.count > 0 }
        let start = sequence + 1
        var changes: [StreamChange] = []
        for (index, state) in states.enumerated() {
            let sequences: SnapshotSequences
            switch numbering {
            case .counted:
                let first = sequence + 1
                sequence += UInt64(state.content.count)
                sequences = .rising(from: first, to: sequence)
            case .given:
                let inside = EventNumber.number(at: sequence, index: EventNumber.insideSnapshot)
                let complete = EventNumber.number(at: sequence, index: EventNumber.complete)
                sequences = .marked(first: inside, last: index == states.count - 1 ? complete : inside)
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

    /// The greatest sequence that an event published so far can have; those of snapshots taken now follow it.
    var lastEventSequence: UInt64 {
        switch numbering {
        case .counted: sequence
        case .given: EventNumber.number(at: sequence, index: EventNumber.lastIndex)
        }
    }

    /// The greatest id that a stream can have sent so far.
    var lastID: EventID { EventID(epoch: epoch, sequence: sequence) }

    /// Makes a stream read a channel, from after a sequence or from now on.
    mutating func read(_ channel: Channel, in id: String, after sequence: UInt64?) -> StreamChange? {
        // A copy of the record would make the next line copy all channels of the stream.
        guard let shard = streams[id]?.shard, let request = streams[id]?.request, streams[id]?.reads[channel.id] == nil,
            streams[id]?.isWaiting == false
        else { return nil }
        let variant = EventVariant(of: channel.log.context, in: request, request.types)
        if variant.isTyped, let subscription = channel.log.context.subscription {
            channel.log.types = request.types[subscription]
        }
        let local = channel.addReader(shard: shard, variant: variant)
        streams[id]?.reads[channel.id] = StreamRecord.ReadChannel(channel: channel, variant: variant, local: local)
        let position = sequence.flatMap { channel.log.position(after: $0) } ?? channel.log.end
        return .read(local, as: variant, from: position, upTo: channel.log.view)
    }

    /// A channel that a stream has to read.
    struct WantedChannel {
        let channel: Channel
        /// The subscription whose present state a new reader gets.
        var subscription: SubscriptionID?
        /// Whether a client brings the subscription into the stream, and no source names the subscription.
        var isInGroup = false
    }

    /// The channels of a stream's sources, each once.
    func channels(of request: StreamRequest) -> [WantedChannel] {
        var wanted: [WantedChannel] = []
        var seen: Set<Int> = []
        func want(_ entry: WantedChannel) {
            if seen.insert(entry.channel.id).inserted { wanted.append(entry) }
        }
        for source in request.sources {
            switch source {
            case .subscription(let id):
                guard let subscription = subscriptions[id] else { continue }
                if let client = subscription.client.flatMap({ clients[$0] }) {
                    // As part of a group, so that a change of the client that carries the subscription causes no gap.
                    want(WantedChannel(channel: client.connection, isInGroup: true))
                    if request.includesLegacy { want(WantedChannel(channel: client.legacy, isInGroup: true)) }
                }
                want(WantedChannel(channel: subscription.channel, subscription: id))
            case .client(let id, let withSubscriptions):
                guard let client = clients[id] else { continue }
                want(WantedChannel(channel: client.connection))
                want(WantedChannel(channel: client.own))
                if request.includesLegacy { want(WantedChannel(channel: client.legacy)) }
                guard withSubscriptions else { continue }
                for member in client.members {
                    guard let record = subscriptions[member], request.admits(record.properties) else { continue }
                    want(WantedChannel(channel: record.channel, subscription: member, isInGroup: true))
                }
            }
        }
        return wanted
    }

    func states(of request: StreamRequest) -> [SourceState] {
        var states: [SourceState] = []
        for source in request.sources {
            switch source {
            case .subscription(let id): states += [state(ofSubscription: id)].compactMap(\.self)
            case .client(let id, let withSubscriptions):
                guard let client = clients[id] else { continue }
                states.append(.client(id: id, status: client.status, failure: client.failure))
                guard withSubscriptions else { continue }
                let members = client.members.filter { request.admits(subscriptions[$0]?.properties) }
                states += members.compactMap(state(ofSubscription:))
            }
        }
        return states
    }

    private func state(ofSubscription id: SubscriptionID) -> SourceState? {
        subscriptions[id].map { record in
            .subscription(
                SubscriptionSourceState(
                    id: id,
                    mode: record.properties.mode,
                    client: record.client,
                    status: record.client.flatMap { clients[$0]?.status },
                    failure: record.client.flatMap { clients[$0]?.failure },
                    isActive: record.isActive,
                    lastError: record.lastError,
                    shape: SubscribedShape(of: record.table, record.channel.log.context)
                )
            )
        }
    }
}
