package import Changes
internal import EventHub
internal import Primitives
package import SessionCore

/// The lock of the changes of a stream, which copies of its entry share.
final class ChangeLock: Sendable {
    let mutex = RankedMutex((), rank: .streamChange)
}

/// The streams of the REST interface with the resources that they hold: shared subscriptions that they joined,
/// dedicated clients that they keep in use, and the requests of prepared streams.
package final class StreamResources: Sendable {
    package struct Entry: Sendable {
        /// The shared subscriptions that the stream joined, by id.
        package var joined: [String: JoinedSubscription] = [:]
        /// The clients that the stream keeps in use, one entry for each source.
        package var clients: [StreamSource: ClientID] = [:]
        /// The request of a prepared stream; nil for a stream that was opened directly.
        package var prepared: StreamRequest? { didSet { sourceCount = prepared?.sources.count ?? sourceCount } }
        /// The number of sources after the last change of the stream by a request.
        var sourceCount: Int
        package var isOpen = false { didSet { if isOpen != oldValue { changes &+= 1 } } }
        /// Held by a request from the look at the tag of the stream to the end of its change, or of its deletion, and while a
        /// prepared stream is opened.
        let changeLock = ChangeLock()
        /// Whether a request has deleted the stream. An open stream ends once its client has read the last event.
        fileprivate var isDeleted = false
        /// Whether another gateway owns the prepared stream. An open one ends here once its client has read the last event.
        package fileprivate(set) var isReleased = false
        /// Counts openings and endings.
        fileprivate(set) var changes: UInt64 = 0
        var madeAt: Moment
        /// The account of the caller that created the stream; nil without one.
        package var owner: String?
        /// The caller that has the stream open; nil while nobody has.
        var opener: Caller?
        /// The position in the order of creation.
        fileprivate var ordinal: UInt64 = 0

        /// The number of sources, with those that long names count as.
        var countedSources: Int { joined.values.reduce(sourceCount) { $0 + $1.countedSources - 1 } }

        /// The time between two changes of `isOpen`.
        var period: Period { Period(ordinal: ordinal, changes: changes) }

        /// An entry without resources.
        package init(prepared: StreamRequest? = nil, madeAt: Moment, owner: String? = nil) {
            self.prepared = prepared
            sourceCount = prepared?.sources.count ?? 0
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
        /// The number of sources of the streams of each caller.
        var sources: [String: Int] = [:]
        /// The number of prepared streams that are not open.
        var waiting = 0
        /// The number of such streams of each caller.
        var waitingByOwner: [String: Int] = [:]
        /// How many times streams are kept at present.
        var kept: [String: Int] = [:]
    }

    private let state = RankedMutex(State())
    private let memory: StreamMemory
    private let removed: @Sendable (String) -> Void

    /// An empty table.
    ///
    /// - Parameters:
    ///   - memory: Counts the sources.
    ///   - removed: Called with the id of each stream that was removed.
    init(memory: StreamMemory = StreamMemory(), removed: @escaping @Sendable (String) -> Void = { _ in }) {
        (self.memory, self.removed) = (memory, removed)
    }

    /// Throws if the streams of a caller, or all streams, have no room for more sources. The sources of a caller take as much
    /// memory as its unread events at most.
    func checkRoom(for selectors: [SourceSelector], of owner: String?) throws(Problem) {
        // There may be more than the limits admit, which sources can be removed from.
        if selectors.isEmpty { return }
        let count = selectors.reduce(0) { sum, selector in
            if case .join(_, let properties, _) = selector { sum + properties.countedSources } else { sum + 1 }
        }
        if let owner {
            let most = memory.ownerLimit / StreamMemory.sourceWeight
            let present = state.withLock { $0.sources[owner, default: 0] }
            guard count <= most - present else {
                throw SubscriptionUsage.overQuota("sources of streams", most, "streams.memoryPerCaller")
            }
        }
        guard count * StreamMemory.sourceWeight <= memory.sourceLimit - memory.sources else {
            let most = memory.sourceLimit / StreamMemory.sourceWeight
            throw Problem(.gatewayFull, detail: "The streams have \(most) sources at most (half of streams.memory).")
        }
    }

    /// Counts a stream that is prepared and not open, and the sources of a stream, before and after a change of its entry; nil:
    /// there is no entry.
    private func count(_ former: Entry?, _ present: Entry?, in state: inout State) {
        let wasWaiting = former?.prepared != nil && former?.isOpen == false
        let isWaiting = present?.prepared != nil && present?.isOpen == false
        if wasWaiting != isWaiting {
            let change = isWaiting ? 1 : -1
            state.waiting += change
            if let owner = (present ?? former)?.owner {
                let count = state.waitingByOwner[owner, default: 0] + change
                state.waitingByOwner[owner] = count > 0 ? count : nil
            }
        }
        let difference = (present?.countedSources ?? 0) - (former?.countedSources ?? 0)
        if difference == 0 { return }
        memory.addSources(difference)
        guard let owner = (present ?? former)?.owner else { return }
        let sum = state.sources[owner, default: 0] + difference
        state.sources[owner] = sum > 0 ? sum : nil
    }

    var sourceCount: Int { memory.sources / StreamMemory.sourceWeight }

    /// The number of sources of a stream; 0 for an unknown one.
    func sourceCount(of id: String) -> Int { state.withLock { $0.entries[id]?.sourceCount ?? 0 } }

    /// The number of prepared streams that are not open.
    var waiting: Int { state.withLock { $0.waiting } }

    /// The number of prepared streams of one caller that are not open.
    func waiting(of owner: String) -> Int { state.withLock { $0.waitingByOwner[owner, default: 0] } }

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
            count(nil, entry, in: &state)
            state.entries[id] = entry
            return true
        }
    }

    func change<Result: Sendable>(_ id: String, _ change: (inout Entry) -> Result) -> Result? {
        state.withLock { state -> Result? in
            guard let former = state.entries[id] else { return nil }
            var entry = former
            let result = change(&entry)
            count(former, entry, in: &state)
            state.entries[id] = entry
            return result
        }
    }

    /// Removes a stream if a condition holds, and returns its entry.
    func remove(_ id: String, if condition: (Entry) -> Bool = { _ in true }) -> Entry? {
        let entry: Entry? = state.withLock { state in
            guard let entry = state.entries[id], condition(entry) else { return nil }
            state.entries[id] = nil
            count(entry, nil, in: &state)
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

    // MARK: - Streams of other gateways

    /// From now on, `release` leaves a stream, which may not exist yet, until `endKeeping` was called as often as `keep`.
    package func keep(_ id: String) { state.withLock { $0.kept[id, default: 0] += 1 } }

    package func endKeeping(_ id: String) {
        state.withLock { state in
            guard let count = state.kept[id] else { return }
            state.kept[id] = count > 1 ? count - 1 : nil
        }
    }

    /// Removes a prepared stream that another gateway owns, unless the stream is kept. An open stream loses its request
    /// only, and is removed at its end.
    ///
    /// - Returns: Whether the stream is kept, and its entry if it was removed.
    package func release(_ id: String) -> (isKept: Bool, removed: Entry?) {
        let released: (isKept: Bool, removed: Entry?) = state.withLock { state in
            if state.kept[id] != nil { return (true, nil) }
            guard var entry = state.entries[id] else { return (false, nil) }
            (entry.prepared, entry.isReleased) = (nil, true)
            let present = entry.isOpen ? entry : nil
            count(state.entries[id], present, in: &state)
            state.entries[id] = present
            return (false, present == nil ? entry : nil)
        }
        if released.removed != nil { removed(id) }
        return released
    }
}

extension SubscriptionProperties {
    /// As how many sources a subscription counts in a stream that has a copy of the names: the memory of the names counts, too.
    var countedSources: Int { 1 + nameBytes(perListed: MemoryLayout<String>.stride) / StreamMemory.sourceWeight }
}
