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
