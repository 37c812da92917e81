package import Changes
internal import Primitives
package import SessionCore
internal import SessionPool

/// The lock of the changes of a stream, which copies of its entry share.
final class ChangeLock: Sendable {
    let mutex = RankedMutex((), rank: .resourceChange)
}

/// The streams of the REST interface with the resources that they hold: shared subscriptions that they joined,
/// dedicated clients that they keep in use, and the requests of prepared streams.
package final class StreamResources: Sendable {
    /// A stream.
    package struct Entry: Sendable {
        /// The shared subscriptions that the stream joined, by id.
        package var joined: [String: JoinedSubscription] = [:]
        /// The clients that the stream keeps in use, one entry for each source.
        package var clients: [StreamSource: ClientID] = [:]
        /// The request of a prepared stream; nil for a stream that was opened directly.
        package var prepared: StreamRequest?
        /// Whether the stream is open.
        package var isOpen = false { didSet { if isOpen != oldValue { changes &+= 1 } } }
        /// Held by a request from the look at the tag of the stream to the end of its change, or of its deletion, and while a
        /// prepared stream is opened.
        let changeLock = ChangeLock()
        /// Whether a request has deleted the stream. An open stream ends once its client has read the last event.
        fileprivate var isDeleted = false
        /// Counts openings and endings.
        fileprivate(set) var changes: UInt64 = 0
        /// When the stream was created.
        var madeAt: Moment
        /// The identity of the caller that created the stream; nil without authentication.
        package var owner: String?
        /// The caller that has the stream open; nil while nobody has.
        var opener: Caller?
        /// The position in the order of creation.
        fileprivate var ordinal: UInt64 = 0

        /// The time between two changes of `isOpen`.
        var period: Period { Period(ordinal: ordinal, changes: changes) }

        /// An entry without resources.
        package init(prepared: StreamRequest? = nil, madeAt: Moment, owner: String? = nil) {
            self.prepared = prepared
            self.madeAt = madeAt
            self.owner = owner
        }
    }

    /// The time in which a stream is open, or is not: a timer that was set in an earlier one has no effect, also if the
    /// stream was removed and added again since.
    struct Period: Equatable {
        fileprivate let ordinal: UInt64
        fileprivate let changes: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var nextOrdinal: UInt64 = 1
    }

    private let state = RankedMutex(State())
    private let removed: @Sendable (String) -> Void

    /// An empty table.
    ///
    /// - Parameter removed: Called with the id of each stream that was removed.
    init(removed: @escaping @Sendable (String) -> Void = { _ in }) { self.removed = removed }

    /// The number of prepared streams that are not open.
    var waiting: Int { state.withLock { $0.entries.values.count { $0.prepared != nil && !$0.isOpen } } }

    /// The number of prepared streams of one caller that are not open.
    func waiting(of owner: String) -> Int {
        state.withLock { $0.entries.values.count { $0.owner == owner && $0.prepared != nil && !$0.isOpen } }
    }

    /// The entry of a stream; nil also for one that was deleted and has not ended.
    package func entry(_ id: String) -> Entry? { state.withLock { $0.entries[id].flatMap { $0.isDeleted ? nil : $0 } } }

    /// The ids of all streams that were not deleted, oldest first.
    package var ids: [String] {
        let entries = state.withLock { $0.entries.filter { !$0.value.isDeleted } }
        return entries.sorted { $0.value.ordinal < $1.value.ordinal }.map(\.key)
    }

    /// Performs an action with the entry of a stream while no request changes or deletes the stream; nil: there is no such
    /// stream.
    package func whileUnchanged(_ id: String, _ action: (Entry?) -> Void) {
        guard let lock = entry(id)?.changeLock else { return action(nil) }
        lock.mutex.withLock { _ in action(entry(id)) }
    }

    /// Adds a stream; false if there is one with this id.
    @discardableResult
    package func add(_ id: String, _ entry: Entry) -> Bool {
        state.withLock { state in
            guard state.entries[id] == nil else { return false }
            var entry = entry
            entry.ordinal = state.nextOrdinal
            state.nextOrdinal += 1
            state.entries[id] = entry
            return true
        }
    }

    /// Changes an entry; nil if there is none.
    func change<Result: Sendable>(_ id: String, _ change: (inout Entry) -> Result) -> Result? {
        state.withLock { state -> Result? in
            guard var entry = state.entries[id] else { return nil }
            let result = change(&entry)
            state.entries[id] = entry
            return result
        }
    }

    /// Removes a stream if a condition holds, and returns its entry.
    func remove(_ id: String, if condition: (Entry) -> Bool = { _ in true }) -> Entry? {
        let entry: Entry? = state.withLock { state in
            guard let entry = state.entries[id], condition(entry) else { return nil }
            state.entries[id] = nil
            return entry
        }
        if entry != nil { removed(id) }
        return entry
    }

    /// Deletes a stream, and returns its entry unless it is open: an open one holds its resources until it ends.
    func delete(_ id: String) -> Entry? {
        _ = change(id) { entry in
            entry.prepared = nil
            entry.isDeleted = true
        }
        return remove(id) { !$0.isOpen }
    }

    /// Removes a prepared stream that another gateway owns, and returns its entry. An open one loses its
    /// request only: it is removed when it ends.
    package func release(_ id: String) -> Entry? {
        _ = change(id) { $0.prepared = nil }
        return remove(id) { $0.prepared == nil && !$0.isOpen }
    }
}
