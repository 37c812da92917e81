internal import SessionCore

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
