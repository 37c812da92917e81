package import Primitives
internal import Synchronization

/// Totals over the shards of a hub, read by any thread.
package final class HubMetrics: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let slowReaderCount = Atomic<UInt64>(0)
    private let invalidCount = Atomic<UInt64>(0)
    /// The time from publication until a pass of a loop takes the event over; counted once for each channel and pass.
    package let queueLatency = LatencyHistogram()
    /// The time from publication until the bytes are written; counted once for each stream and visit.
    package let deliveryLatency = LatencyHistogram()

    /// Events written to streams.
    package var delivered: UInt64 { deliveredCount.load(ordering: .relaxed) }
    /// Updates that were conflated into a later one.
    package var conflated: UInt64 { conflatedCount.load(ordering: .relaxed) }
    /// Updates dropped from windows.
    package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// Streams closed because their reader was too slow.
    package var slowReaders: UInt64 { slowReaderCount.load(ordering: .relaxed) }

    /// Values of typed fields that shards have written as text.
    var invalidValues: UInt64 { invalidCount.load(ordering: .relaxed) }

    func addInvalid(_ count: UInt64) { invalidCount.wrappingAdd(count, ordering: .relaxed) }
    func addDelivered(_ count: Int) { deliveredCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addConflated(_ count: Int) { conflatedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addDropped(_ count: Int) { droppedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addSlowReader() { slowReaderCount.wrappingAdd(1, ordering: .relaxed) }
}

/// The totals of one stream. Written by the thread that uses its shard, read by any thread.
package final class StreamFigures: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let unreadCount = Atomic<Int>(0)
    /// The broadcasts that the stream takes part in; their totals are added to those of the stream.
    private let shares = RankedMutex<[Share]>([])

    /// A stream's share of the broadcasts of a channel: those since it joined the live group.
    private struct Share {
        let totals: BroadcastCounters
        let eventsBefore: UInt64

        var events: UInt64 { totals.events &- eventsBefore }
    }

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

    /// Adds events that the stream has received. Only the thread of its shard writes this count: a load and a store suffice, without a locked instruction for each delivery.
    func addDelivered(_ count: UInt64) {
        deliveredCount.store(deliveredCount.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    func addConflated(_ count: Int) { conflatedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addDropped(_ count: Int) { droppedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func setLag(_ count: Int) { unreadCount.store(count, ordering: .relaxed) }

    /// Adds the broadcasts of a live group to the stream's totals from now on.
    func joinLiveGroup(_ totals: BroadcastCounters) {
        shares.withLock { $0.append(Share(totals: totals, eventsBefore: totals.events)) }
    }

    /// Stops adding broadcasts; those so far stay in the stream's totals.
    func leaveLiveGroup() {
        shares.withLock { shares in
            for share in shares { addDelivered(share.events) }
            shares.removeAll(keepingCapacity: true)
        }
    }
}

/// Totals of the broadcasts to one live group. Written by the thread that uses the shard, read by any thread.
final class BroadcastCounters: Sendable {
    private let eventCount = Atomic<UInt64>(0)

    var events: UInt64 { eventCount.load(ordering: .relaxed) }

    func add(events: Int) { eventCount.wrappingAdd(UInt64(clamping: events), ordering: .relaxed) }
}
