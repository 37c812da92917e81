internal import TLCP

/// What a group and a schema were found to mean.
struct SubscriptionPlan: Sendable, Hashable {
    /// The feed that has all the items.
    var feed: FeedDirectory.Index
    /// The mode, which is that of all the items.
    var mode: WireMode
    /// Names and kinds of the items.
    var items: [NamedItem]
    /// For each field of the schema its place in the feed's rows.
    var columns: [Int]
    /// 1-based position of the field `key`; COMMAND only.
    var keyPosition: Int?
    /// 1-based position of the field `command`; COMMAND only.
    var commandPosition: Int?

    /// One item of the group.
    struct NamedItem: Sendable, Hashable {
        /// Its name.
        var name: String
        /// What the feed says about it.
        var item: FeedItem
    }
}
