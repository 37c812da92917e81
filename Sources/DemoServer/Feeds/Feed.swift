internal import Primitives
internal import TLCP

/// A data adapter: items, their present state, and their events.
///
/// Feeds are pure: their events follow from the seed, the time and the messages passed in, whether or not an item is
/// subscribed to.
protocol Feed: Sendable {
    /// Names of the fields, in the order of all rows of this feed.
    var fields: [String] { get }

    /// The description of an item; nil if the feed has no such item.
    func item(named name: String) -> FeedItem?

    func snapshot(of name: String) -> FeedSnapshot

    /// The instant of the next change; nil if the feed does not change with time.
    var nextChange: Duration? { mutating get }

    /// The events up to an instant, in order.
    mutating func advance(to now: Duration) -> [FeedEvent]

    /// The events of a request. Only a manual feed remembers the events; other feeds continue with their own values.
    mutating func requested(_ request: FeedRequest) -> [FeedEvent]

    /// The events of a chat message of a client.
    mutating func received(_ text: String, from address: String, at now: Duration) -> [FeedEvent]
}

extension Feed {
    var nextChange: Duration? { nil }

    mutating func advance(to now: Duration) -> [FeedEvent] { [] }

    mutating func requested(_ request: FeedRequest) -> [FeedEvent] {
        guard let mode = item(named: request.item)?.mode else { return [] }
        switch request {
        case .publish(let item, let values):
            return row(values, mode).map { [FeedEvent(item: item, content: .row($0))] } ?? []
        case .clear(let item):
            return mode == .distinct || mode == .command ? [FeedEvent(item: item, content: .cleared)] : []
        case .lose(let item, let count): return [FeedEvent(item: item, content: .lost(max(1, count)))]
        case .endSnapshot: return []
        }
    }

    mutating func received(_ text: String, from address: String, at now: Duration) -> [FeedEvent] { [] }

    /// The row of these values, null in further fields; nil if there are too many values, or key or command is not valid.
    func row(_ values: [String?], _ mode: SubscriptionMode) -> FeedRow? {
        guard values.count <= fields.count else { return nil }
        var row = FeedRow(values: values + Array(repeating: nil, count: fields.count - values.count))
        guard mode == .command else { return row }
        row.command = RowCommand(of: row, fields)
        return row.command == nil ? nil : row
    }
}

struct FeedItem: Sendable, Hashable {
    /// The only mode of subscriptions to the item.
    var mode: SubscriptionMode
    /// Greatest frequency in updates per second; nil sets no limit.
    var maxFrequency: Double?
    var diffs: DiffFormats = []
    /// Diff formats of single fields, in place of `diffs`, by position in the rows.
    var fieldDiffs: [Int: DiffFormats] = [:]
    var selectors: Set<String> = []
    /// Whether events that change no subscribed field are dropped in MERGE mode.
    var dropsUnchanged = false
}

struct FeedEvent: Sendable, Hashable {
    let item: String
    let content: ItemEvent
}

/// The state of an item at an instant.
struct FeedSnapshot: Sendable, Hashable {
    /// MERGE: at most one row; DISTINCT: the last rows, oldest first; COMMAND: one `ADD` per key.
    var rows: [FeedRow]
    /// Whether `rows` is the whole snapshot; if not, further rows follow as events up to `ItemEvent.endOfSnapshot`.
    var isComplete = true
}

/// One row, with a value for every field of the feed.
struct FeedRow: Sendable, Hashable {
    /// The values in the order of the feed's fields; nil is null.
    var values: [String?]
    /// The command; COMMAND only.
    var command: RowCommand?
}

/// The key and the command of a row of a COMMAND item.
struct RowCommand: Sendable, Hashable {
    /// The three commands of the protocol.
    enum Kind: String, Sendable {
        case add = "ADD"
        /// The row of the key changes.
        case update = "UPDATE"
        /// The key is deleted.
        case delete = "DELETE"
    }

    /// The key; keys are equal if their bytes are.
    var key: UpstreamName
    var kind: Kind
}

extension RowCommand {
    /// The values of the fields `key` and `command`; nil if one of the values is missing, or the command is not valid. The
    /// key may be empty.
    init?(of row: FeedRow, _ fields: [String]) {
        guard let keyIndex = fields.firstIndex(of: "key"), let commandIndex = fields.firstIndex(of: "command"),
            let key = row.values[keyIndex],
            let kind = row.values[commandIndex].flatMap(RowCommand.Kind.init(rawValue:))
        else { return nil }
        self.init(key: UpstreamName(key), kind: kind)
    }
}

/// An event that a test, or the application around the server, publishes through a feed.
package enum FeedRequest: Sendable, Hashable {
    /// The item has a new row of these values, in the order of the feed's fields; missing ones at the end are null.
    ///
    /// COMMAND feeds must give key and command (`ADD`, `UPDATE`, `DELETE`) under the field names `key` and `command`.
    case publish(item: String, values: [String?])
    /// The item is cleared (`CS`); all fields of a MERGE item become null.
    case clear(item: String)
    /// This number of events of the item was lost (`OV`, for subscriptions that report losses).
    case lose(item: String, count: Int)
    /// The snapshot of the item is complete; only for feeds with `ManualFeedConfiguration.holdsSnapshot`.
    case endSnapshot(item: String)

    var item: String {
        switch self {
        case .publish(let item, _), .clear(let item), .lose(let item, _), .endSnapshot(let item): item
        }
    }
}

extension SplitMix64 {
    /// A random pause within bounds, in whole microseconds.
    mutating func pause(in bounds: ClosedRange<Duration>) -> Duration {
        let (low, high) = (bounds.lowerBound.clampedNanoseconds / 1_000, bounds.upperBound.clampedNanoseconds / 1_000)
        return .microseconds(Int64.random(in: low...high, using: &self))
    }
}
