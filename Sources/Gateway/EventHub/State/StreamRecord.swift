internal import Changes
internal import SessionCore

/// The hub's record of a stream.
struct StreamRecord: Sendable {
    /// Its id.
    let id: String
    /// The epoch of the hub when the stream was attached.
    var epoch = ""
    /// The request; its sources are the present ones.
    var request: StreamRequest
    /// When it was admitted.
    let openedAt: Moment
    /// The memory of its owner.
    let memory: StreamOwnerMemory
    /// Its figures, counted by its shard.
    let figures = StreamFigures()
    /// The shard that writes it; nil until the HTTP server opened it.
    var shard: Int?
    /// The outcome of its opening; nil until it is open.
    var outcome: ResumeOutcome?
    /// The channels that it reads, by their ids.
    var reads: [Int: ReadChannel] = [:]
    /// The changes that its shard has not taken over yet.
    var changes: [StreamChange] = []
    /// The reason for which it is being closed; nil while it is not.
    var closeReason: String?

    /// A channel that a stream reads.
    struct ReadChannel: Sendable {
        /// The hub's side.
        let channel: Channel
        /// The variant in which the stream reads its events.
        let variant: EventVariant
        /// The shard's side.
        let local: ShardChannel
    }

    /// Its present summary.
    var summary: StreamSummary {
        StreamSummary(
            id: id,
            request: request,
            openedAt: openedAt,
            outcome: outcome,
            closeReason: closeReason,
            figures: figures
        )
    }
}

/// A change of a stream for its shard, in order.
enum StreamChange: Sendable {
    /// The types of the fields of its subscriptions, from now on.
    case types(FieldTypes)
    /// Read a channel in a variant, from a position on; it may be read up to the view.
    case read(ShardChannel, as: EventVariant, from: LogPosition, upTo: LogView)
    /// Read a channel to its end, which is the view, and no further.
    case retire(ShardChannel, upTo: LogView)
    /// Stop reading a channel.
    case drop(ShardChannel)
    /// Deliver the present state of a subscription.
    case snapshot(Snapshot)
    /// Deliver an event of the gateway, behind all events up to a sequence.
    case announce(ControlEvent, after: UInt64)
    /// Deliver all events up to a sequence and the reason, then end.
    case close(reason: String, after: UInt64)
    /// Drop all undelivered events and stop reading all channels; later ids have another epoch.
    case restart(epoch: String)
}

/// The present state of a subscription, for a stream that joins.
struct Snapshot: Sendable {
    /// The channel of the subscription.
    let channel: Int
    /// The common parts of its events.
    let context: TopicContext
    /// Its events: updates and ends of snapshots, preceded by `subscribed` if the stream has not received it.
    let content: SnapshotContent
    /// The sequences of its events.
    let sequences: SnapshotSequences
}

/// The sequences of a snapshot's events.
enum SnapshotSequences: Sendable {
    /// The numbers rise one by one. The last event has the last number, also where earlier events are omitted.
    case rising(from: UInt64, to: UInt64)
    /// All but the last event have the first one.
    case marked(first: UInt64, last: UInt64)

    /// The sequence of the first event.
    var first: UInt64 {
        switch self {
        case .rising(let first, _), .marked(let first, _): first
        }
    }

    /// The sequence of the last event.
    var last: UInt64 {
        switch self {
        case .rising(_, let last), .marked(_, let last): last
        }
    }

    /// The sequence of an event, which is not the last one, by its index.
    func sequence(at index: Int) -> UInt64 {
        switch self {
        case .rising(let first, _): first + UInt64(index)
        case .marked(let first, _): first
        }
    }
}
