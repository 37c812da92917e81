internal import Synchronization

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
