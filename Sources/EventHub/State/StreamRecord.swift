internal import SessionCore

/// What the hub knows of a stream.
struct StreamRecord: Sendable {
    /// Its id.
    let id: String
    /// What was asked; the sources are the present ones.
    var request: StreamRequest
    /// When it was admitted.
    let openedAt: Moment
    /// Its figures, which its shard counts.
    let figures = StreamFigures()
    /// The shard that writes it; nil until the front end opened it.
    var shard: Int?
    /// How it began; nil until it has.
    var outcome: ResumeOutcome?
    /// The channels that it reads, by their ids.
    var reads: [Int: ReadChannel] = [:]
    /// What its shard has to do and has not fetched yet.
    var changes: [StreamChange] = []
    /// Why it is being closed; nil while it is not.
    var closeReason: String?

    /// A channel that a stream reads.
    struct ReadChannel: Sendable {
        /// The hub's side.
        let channel: Channel
        /// The shard's side.
        let local: ShardChannel
    }

    /// The variant in which the stream reads events.
    var variant: EventVariant {
        EventVariant(format: request.format, sendsAllFields: request.sendsAllFields)
    }

    /// What is true of it now.
    var summary: StreamSummary {
        StreamSummary(id: id, request: request, openedAt: openedAt, outcome: outcome, figures: figures)
    }
}

/// What the hub tells the shard of a stream to do with it, in order.
enum StreamChange: Sendable {
    /// Read a channel, from a position on; it may be read up to the view.
    case read(ShardChannel, from: LogPosition, upTo: LogView)
    /// Read a channel to its end, which is the view, and no further.
    case retire(ShardChannel, upTo: LogView)
    /// Read a channel no more.
    case drop(ShardChannel)
    /// Tell the present state of a subscription; its events take the sequences from the first one on.
    case snapshot(Snapshot)
    /// Say something of the gateway's own, behind all events up to a sequence.
    case announce(ControlEvent, after: UInt64)
    /// Tell all events up to a sequence, say why, and end.
    case close(reason: String, after: UInt64)
}

/// The present state of a subscription, for one that joins.
struct Snapshot: Sendable {
    /// The channel of the subscription.
    let channel: Int
    /// What its events have in common.
    let context: TopicContext
    /// Updates and ends of snapshots.
    let events: [SubscriptionEvent]
    /// The sequence of the first event; the others follow one by one.
    let firstSequence: UInt64
}
