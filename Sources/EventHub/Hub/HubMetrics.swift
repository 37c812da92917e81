internal import Synchronization

/// What the shards of a hub did so far, added up; read by anyone.
package final class HubMetrics: Sendable {
    private let deliveredCount = Atomic<UInt64>(0)
    private let conflatedCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let slowReaderCount = Atomic<UInt64>(0)
    /// From publication to the moment at which a loop took notice; once a channel and pass.
    package let queueLatency = LatencyHistogram()
    /// From publication to the moment at which the bytes were given to a stream's writer; once a stream and visit.
    package let deliveryLatency = LatencyHistogram()

    /// All zero.
    init() {}

    /// Events written to streams.
    package var delivered: UInt64 { deliveredCount.load(ordering: .relaxed) }
    /// Updates that went into another one instead of being written.
    package var conflated: UInt64 { conflatedCount.load(ordering: .relaxed) }
    /// Updates lost in windows.
    package var dropped: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// Streams closed because their reader was too slow.
    package var slowReaders: UInt64 { slowReaderCount.load(ordering: .relaxed) }

    func addDelivered(_ count: Int) { deliveredCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addConflated(_ count: Int) { conflatedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addDropped(_ count: Int) { droppedCount.wrappingAdd(UInt64(clamping: count), ordering: .relaxed) }
    func addSlowReader() { slowReaderCount.wrappingAdd(1, ordering: .relaxed) }
}
