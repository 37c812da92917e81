internal import Synchronization

/// The totals of one stream. Written by the thread that uses its shard, read by any thread.
package final class StreamFigures: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let unreadCount = Atomic<Int>(0)
    /// The broadcasts that the stream takes part in; their totals are added to those of the stream.
    private let shares = Mutex<[Share]>([])

    /// A stream's share of the broadcasts of a channel: those since it joined the live group.
    private struct Share {
        let totals: BroadcastCounters
        let eventsBefore: UInt64

        var events: UInt64 { totals.events &- eventsBefore }
    }

    /// All zero.
    package init() {}

    /// Events written, without those of the gateway itself.
    package var delivered: UInt64 {
        shares.withLock { $0.reduce(deliveredCount.load(ordering: .relaxed)) { $0 &+ $1.events } }
    }
    /// Updates that were conflated into a later one.
    package var conflated: UInt64 { conflatedCount.load(ordering: .relaxed) }
    /// Updates that were dropped because the window was full, and reported by `lost-updates`.
    package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// Events that wait for the reader, as of the last visit of the stream.
    package var lag: Int { unreadCount.load(ordering: .relaxed) }

    // One thread at a time writes, so a load and a store suffice, without a locked instruction for each delivery.
    private static func add(_ count: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    func addDelivered(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: deliveredCount) }
    func addConflated(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: conflatedCount) }
    func addDropped(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: droppedCount) }
    func setLag(_ count: Int) { unreadCount.store(count, ordering: .relaxed) }

    /// Adds the broadcasts of a live group to the stream's totals from now on.
    func joinLiveGroup(_ totals: BroadcastCounters) {
        shares.withLock { $0.append(Share(totals: totals, eventsBefore: totals.events)) }
    }

    /// Stops adding broadcasts; those so far stay in the stream's totals.
    func leaveLiveGroup() {
        shares.withLock { shares in
            for share in shares { Self.add(share.events, to: deliveredCount) }
            shares.removeAll(keepingCapacity: true)
        }
    }
}

/// Totals of the broadcasts to one live group. Written by the thread that uses the shard, read by any thread.
final class BroadcastCounters: Sendable {
    private let eventCount = Atomic<UInt64>(0)

    /// Events so far.
    var events: UInt64 { eventCount.load(ordering: .relaxed) }

    /// Adds a broadcast.
    func add(events: Int) { eventCount.wrappingAdd(UInt64(clamping: events), ordering: .relaxed) }
}
