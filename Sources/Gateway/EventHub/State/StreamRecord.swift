internal import Changes
internal import SessionCore

/// The hub's record of a stream.
struct StreamRecord: Sendable {
    /// The id of the stream.
    let id: String
    /// The epoch of the hub when the stream was attached.
    var epoch = ""
    /// The request, with the present sources.
    var request: StreamRequest
    /// When the stream was admitted.
    let openedAt: Moment
    /// The memory of the owner of the stream.
    let memory: StreamOwnerMemory
    /// The figures of the stream, counted by its shard.
    let figures = StreamFigures()
    /// The shard that writes the stream; nil until the HTTP server opened the stream.
    var shard: Int?
    /// Whether the stream waits for `HubState.begin`: until then, it reads nothing.
    var isWaiting = false
    /// The time that the client waits before it reconnects; set when the HTTP server opens the stream.
    var retryMilliseconds = 0
    /// The outcome of the opening; nil until the stream is open.
    var outcome: ResumeOutcome?
    /// The channels that the stream reads, by their ids.
    var reads: [Int: ReadChannel] = [:]
    /// The changes that the shard has not taken over yet.
    var changes: [StreamChange] = []
    /// The reason for which the stream is being closed; nil while it is not.
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

    /// The present summary of the stream.
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
