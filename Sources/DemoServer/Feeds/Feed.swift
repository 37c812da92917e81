internal import TLCP

/// A data adapter: some items, their present state, and what happens to them as time goes by.
///
/// Feeds are pure: what they publish follows from the seed, the time and the messages they were given, whether or not
/// anybody listens.
protocol Feed: Sendable {
    /// Names of the fields, in the order of all rows of this feed.
    var fields: [String] { get }

    /// What an item is; nil if the feed has no such item.
    func item(named name: String) -> FeedItem?

    /// The present state of an item.
    func snapshot(of name: String) -> FeedSnapshot

    /// The instant of the next change; nil if nothing will change by itself.
    var nextChange: Duration? { mutating get }

    /// What happened up to an instant, in order.
    mutating func advance(to now: Duration) -> [FeedEvent]

    /// A test, or the application around the server, asks for something.
    mutating func ordered(_ order: FeedRequest) -> [FeedEvent]

    /// A client published a message to all.
    mutating func said(_ text: String, from address: String, at now: Duration) -> [FeedEvent]
}

extension Feed {
    mutating func ordered(_ order: FeedRequest) -> [FeedEvent] { [] }
    mutating func said(_ text: String, from address: String, at now: Duration) -> [FeedEvent] { [] }
}

/// What can be known of an item before its first event.
struct FeedItem: Sendable, Hashable {
    /// The one mode that it allows.
    var mode: WireMode
    /// Greatest frequency in updates per second; nil sets no limit.
    var maxFrequency: Double?
    /// Diff formats that the feed asks for.
    var diffs: DiffFormats = []
    /// Formats for single fields in place of those, by the field's place in the feed's rows.
    var fieldDiffs: [Int: DiffFormats] = [:]
    /// Selectors that may be named.
    var selectors: Set<String> = []
    /// Whether events that change no subscribed field are dropped in MERGE mode.
    var dropsUnchanged = false
}

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

/// The state of an item at an instant.
struct FeedSnapshot: Sendable, Hashable {
    /// MERGE: at most one row; DISTINCT: the last rows, oldest first; COMMAND: one `ADD` per key.
    var rows: [FeedRow]
    /// Whether more rows of the snapshot will come as events, up to `FeedEvent.endOfSnapshot`.
    var isComplete = true
}

/// One row, with a value for every field of the feed.
struct FeedRow: Sendable, Hashable {
    /// The values in the order of the feed's fields; nil is null.
    var values: [String?]
    /// What happens to a key; COMMAND only.
    var command: RowCommand?
}

/// What a row of a COMMAND item does to a key.
struct RowCommand: Sendable, Hashable {
    /// The three commands of the protocol.
    enum Kind: String, Sendable {
        /// The key appears.
        case add = "ADD"
        /// The key's row changes.
        case update = "UPDATE"
        /// The key goes.
        case delete = "DELETE"
    }

    /// The key.
    var key: String
    /// What happens to it.
    var kind: Kind
}

/// What a test, or an application around the server, makes a hand-driven feed do.
package enum FeedRequest: Sendable, Hashable {
    /// The item takes these values, in the order of the feed's fields; missing ones at the end are null.
    ///
    /// COMMAND feeds must give key and command (`ADD`, `UPDATE`, `DELETE`) under the field names `key` and `command`.
    case publish(item: String, values: [String?])
    /// The item's list or table is emptied (`CS`); a MERGE row becomes all null.
    case clear(item: String)
    /// The given number of events of the item got lost (`OV`, for subscriptions that report losses).
    case lose(item: String, count: Int)
    /// The snapshot of the item is complete; only for feeds that hold their snapshots.
    case endSnapshot(item: String)
}
