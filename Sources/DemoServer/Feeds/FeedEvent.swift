/// Something that happened to an item.
enum FeedEvent: Sendable, Hashable {
    /// It took a new row.
    case row(item: String, FeedRow)
    /// It was emptied.
    case cleared(item: String)
    /// Events of it were lost before they reached the server.
    case lost(item: String, count: Int)
    /// Its snapshot, so far incomplete, is complete.
    case endOfSnapshot(item: String)

    /// The item.
    var item: String {
        switch self {
        case .row(let item, _), .cleared(let item), .lost(let item, _), .endOfSnapshot(let item): item
        }
    }
}
