/// What a test, or an application around the server, makes a hand-driven feed do.
package enum FeedRequest: Sendable, Hashable {
    /// The item takes these values, in the order of the feed's fields; missing ones at the end are null.
    ///
    /// COMMAND feeds must give key and command (`ADD`, `UPDATE`, `DELETE`) under the field names `key` and `command`.
    case publish(item: String, values: [String?])
    /// The item's list or table is emptied (`CS`); a MERGE row becomes all null.
    case clear(item: String)
    /// The given number of events of the item got lost (`OV`, for subscriptions that are told of losses).
    case lose(item: String, count: Int)
    /// The snapshot of the item is complete; only for feeds that hold their snapshots.
    case endSnapshot(item: String)
}
