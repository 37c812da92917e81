internal import EventHub
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// What the streams that REST made hold: the shared subscriptions that they joined, the dedicated clients that they keep
/// in use, and, of those that were prepared, what was asked.
final class StreamResources: Sendable {
    /// One stream.
    struct Entry: Sendable {
        /// The shared subscriptions that it joined, by id.
        var joined: [String: SubscriptionResource] = [:]
        /// The clients that it keeps in use, one entry for each source.
        var clients: [StreamSource: ClientID] = [:]
        /// What was asked of a prepared stream; nil for one that was opened in one line.
        var prepared: StreamRequest?
        /// Whether somebody reads it.
        var isOpen = false
        /// Counts openings and endings, so that a late timer finds out that it is not meant.
        var generation: UInt64 = 0
        /// When it was made.
        var madeAt: Moment
        /// The identity of whoever made it; nil where nobody has to say who they are.
        var owner: String?
        /// Its place among all streams, by the time of their making.
        fileprivate var ordinal: UInt64 = 0

        /// An entry that holds nothing yet.
        init(prepared: StreamRequest? = nil, madeAt: Moment, owner: String? = nil) {
            self.prepared = prepared
            self.madeAt = madeAt
            self.owner = owner
        }
    }

    private struct Body {
        var entries: [String: Entry] = [:]
        var nextOrdinal: UInt64 = 1
    }

    private let body = Mutex(Body())

    /// A book without entries.
    init() {}

    /// The number of streams that were prepared and are not open.
    var waiting: Int { body.withLock { $0.entries.values.count { $0.prepared != nil && !$0.isOpen } } }

    /// The number of those that somebody made.
    func waiting(of owner: String) -> Int {
        body.withLock { $0.entries.values.count { $0.owner == owner && $0.prepared != nil && !$0.isOpen } }
    }

    /// The entry of a stream.
    func entry(_ id: String) -> Entry? { body.withLock { $0.entries[id] } }

    /// The ids of all streams, oldest first.
    var ids: [String] {
        let entries = body.withLock { $0.entries }
        return entries.sorted { $0.value.ordinal < $1.value.ordinal }.map(\.key)
    }

    /// Notes a stream.
    func add(_ id: String, _ entry: Entry) {
        body.withLock { body in
            var entry = entry
            entry.ordinal = body.nextOrdinal
            body.nextOrdinal += 1
            body.entries[id] = entry
        }
    }

    /// Changes an entry; nil if there is none.
    func change<Result: Sendable>(_ id: String, _ change: (inout Entry) -> Result) -> Result? {
        body.withLock { body -> Result? in
            guard var entry = body.entries[id] else { return nil }
            let result = change(&entry)
            body.entries[id] = entry
            return result
        }
    }

    /// Strikes a stream out, if a condition holds; gives what it held.
    func remove(_ id: String, if condition: (Entry) -> Bool = { _ in true }) -> Entry? {
        body.withLock { body in
            guard let entry = body.entries[id], condition(entry) else { return nil }
            body.entries[id] = nil
            return entry
        }
    }
}
