internal import Synchronization

/// What one stream did so far. Written by the thread of its loop alone, read by anyone.
package final class StreamFigures: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let byteCount = Atomic<UInt64>(0)
    private let unreadCount = Atomic<Int>(0)

    /// All zero.
    package init() {}

    /// Events written, the gateway's own not counted.
    package var delivered: UInt64 { deliveredCount.load(ordering: .relaxed) }
    /// Updates that went into another one instead of being written themselves.
    package var conflated: UInt64 { conflatedCount.load(ordering: .relaxed) }
    /// Updates that were lost because the window was full, and told with `lost-updates`.
    package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// Bytes written, framing included.
    package var bytes: UInt64 { byteCount.load(ordering: .relaxed) }
    /// Events that wait for the reader, as of the last look at the stream.
    package var lag: Int { unreadCount.load(ordering: .relaxed) }

    // One thread writes, so a load and a store do; a locked instruction per delivery would be paid for nothing.
    private static func add(_ count: Int, to counter: borrowing Atomic<UInt64>) {
        let value = counter.load(ordering: .relaxed)
        counter.store(value &+ UInt64(truncatingIfNeeded: count), ordering: .relaxed)
    }

    func addDelivered(_ count: Int) { Self.add(count, to: deliveredCount) }
    func addConflated(_ count: Int) { Self.add(count, to: conflatedCount) }
    func addDropped(_ count: Int) { Self.add(count, to: droppedCount) }
    func addBytes(_ count: Int) { Self.add(count, to: byteCount) }
    func setLag(_ count: Int) { unreadCount.store(count, ordering: .relaxed) }
}
