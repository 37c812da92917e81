internal import Synchronization

/// What one stream did so far. Written by the thread of its loop alone, read by anyone.
package final class StreamFigures: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let byteCount = Atomic<UInt64>(0)
    private let unreadCount = Atomic<Int>(0)
    /// The broadcasts that the stream takes part in: what they add up to is its own as well.
    private let shares = Mutex<[Share]>([])

    /// What a stream gets of the broadcasts of a channel: what came since it fell in.
    private struct Share {
        let totals: BroadcastTotals
        let eventsBefore: UInt64
        let bytesBefore: UInt64

        var events: UInt64 { totals.events &- eventsBefore }
        var bytes: UInt64 { totals.bytes &- bytesBefore }
    }

    /// All zero.
    package init() {}

    /// Events written, the gateway's own not counted.
    package var delivered: UInt64 {
        shares.withLock { $0.reduce(deliveredCount.load(ordering: .relaxed)) { $0 &+ $1.events } }
    }
    /// Updates that went into another one instead of being written themselves.
    package var conflated: UInt64 { conflatedCount.load(ordering: .relaxed) }
    /// Updates that were lost because the window was full, and told with `lost-updates`.
    package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// Bytes written, framing included.
    package var bytes: UInt64 {
        shares.withLock { $0.reduce(byteCount.load(ordering: .relaxed)) { $0 &+ $1.bytes } }
    }
    /// Events that wait for the reader, as of the last look at the stream.
    package var lag: Int { unreadCount.load(ordering: .relaxed) }

    // One thread writes, so a load and a store do; a locked instruction per delivery would be paid for nothing.
    private static func add(_ count: UInt64, to counter: borrowing Atomic<UInt64>) {
        counter.store(counter.load(ordering: .relaxed) &+ count, ordering: .relaxed)
    }

    func addDelivered(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: deliveredCount) }
    func addConflated(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: conflatedCount) }
    func addDropped(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: droppedCount) }
    func addBytes(_ count: Int) { Self.add(UInt64(truncatingIfNeeded: count), to: byteCount) }
    func setLag(_ count: Int) { unreadCount.store(count, ordering: .relaxed) }

    /// The stream takes part in the broadcasts that are added up here.
    func joinLiveGroup(_ totals: BroadcastTotals) {
        shares.withLock {
            $0.append(Share(totals: totals, eventsBefore: totals.events, bytesBefore: totals.bytes))
        }
    }

    /// The stream takes part in no broadcasts any more; what it got of them stays its own.
    func leaveLiveGroup() {
        shares.withLock { shares in
            for share in shares {
                Self.add(share.events, to: deliveredCount)
                Self.add(share.bytes, to: byteCount)
            }
            shares.removeAll(keepingCapacity: true)
        }
    }
}

/// What was broadcast to the readers of one variant of a channel. Written by the thread of one loop, read by anyone.
final class BroadcastTotals: Sendable {
    private let eventCount = Atomic<UInt64>(0)
    private let byteCount = Atomic<UInt64>(0)

    /// Events so far.
    var events: UInt64 { eventCount.load(ordering: .relaxed) }
    /// Bytes so far.
    var bytes: UInt64 { byteCount.load(ordering: .relaxed) }

    /// Adds up a broadcast.
    func add(events: Int, bytes: Int) {
        eventCount.wrappingAdd(UInt64(clamping: events), ordering: .relaxed)
        byteCount.wrappingAdd(UInt64(clamping: bytes), ordering: .relaxed)
    }
}
