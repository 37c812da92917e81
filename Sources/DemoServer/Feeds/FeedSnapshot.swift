/// The state of an item at an instant.
struct FeedSnapshot: Sendable, Hashable {
    /// MERGE: at most one row; DISTINCT: the last rows, oldest first; COMMAND: one `ADD` per key.
    var rows: [FeedRow]
    /// Whether more rows of the snapshot will come as events, up to `FeedEvent.endOfSnapshot`.
    var isComplete = true
}
