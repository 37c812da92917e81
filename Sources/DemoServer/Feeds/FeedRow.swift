/// One row, with a value for every field of the feed.
struct FeedRow: Sendable, Hashable {
    /// The values in the order of the feed's fields; nil is null.
    var values: [String?]
    /// What happens to a key; COMMAND only.
    var command: RowCommand?
}
