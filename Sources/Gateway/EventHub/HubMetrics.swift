package import Primitives
internal import Synchronization

/// Totals over the shards of a hub, read by any thread.
package final class HubMetrics: Sendable {
    /// Events written to streams.
    package let delivered = Total()
    /// Updates that were conflated into a later one.
    package let conflated = Total()
    /// Updates dropped from windows.
    package let dropped = Total()
    /// Streams closed because their reader was too slow.
    package let slowReaders = Total()
    /// Values of typed fields that shards have written as text.
    let invalidValues = Total()
    /// The time from publication until a pass of a loop takes the event over; counted once for each channel and pass.
    package let queueLatency = LatencyHistogram()
    /// The time from publication until the bytes are written; counted once for each stream and visit.
    package let deliveryLatency = LatencyHistogram()
}

/// A number that any thread raises and reads.
package struct Total: ~Copyable, Sendable {
    private let value = Atomic<UInt64>(0)

    package var count: UInt64 { value.load(ordering: .relaxed) }

    func add(_ more: Int) { value.wrappingAdd(UInt64(clamping: more), ordering: .relaxed) }
}

/// The totals of one stream. Written by the thread that uses its shard, read by any thread.
package final class StreamFigures: Sendable {
    /// Updates that were conflated into a later one.
    package let conflated = Total()
    /// Updates that were dropped because the window was full, and reported by `lost-updates`.
    package let dropped = Total()
    private let deliveredCount = Atomic<UInt64>(0)
    private let unreadCount = Atomic<Int>(0)
    /// The broadcasts that the stream takes part in; their totals are added to those of the stream.
    private let shares = RankedMutex<[Share]>([])

    /// A stream's share of the broadcasts of a channel: those since it joined the live group.
    private struct Share {
        let totals: BroadcastCounters
        let eventsBefore: UInt64

        var events: UInt64 { totals.events.count &- eventsBefore }
    }

    /// Events written, without those of the gateway itself.
    package var delivered: UInt64 {
        shares.withLock { $0.reduce(deliveredCount.load(ordering: .relaxed)) { $0 &+ $1.events } }
    }
    /// Events that wait for the reader, as of the last visit of the stream.
    package var lag: Int { unreadCount.load(ordering: .relaxed) }

    /// Adds events that the stream has received. Only the thread of its shard writes this count: a load and a store suffice,
    /// without a locked instruction for each delivery.
    func addDelivered(_ count: UInt64) {
        deliveredCount.store(deliveredCount.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    func setLag(_ count: Int) { unreadCount.store(count, ordering: .relaxed) }

    /// Adds the broadcasts of a live group to the stream's totals from now on.
    func joinLiveGroup(_ totals: BroadcastCounters) {
        shares.withLock { $0.append(Share(totals: totals, eventsBefore: totals.events.count)) }
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
final class BroadcastCounters: Sendable { let events = Total() }
