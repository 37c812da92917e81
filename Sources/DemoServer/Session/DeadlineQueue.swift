internal import HeapModule

/// Deadlines by key: each key has at most one, the earliest comes first, equal ones in the order in
/// which they were set.
///
/// The heap of swift-collections cannot remove an element from its middle. The entry of a deadline that was changed or
/// cancelled therefore stays in the heap until it is the earliest, or until such entries are the majority.
struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry: Comparable {
        var time: Duration
        /// Counts the calls of `set(_:at:)`.
        var serial: UInt64
        var key: Key

        static func == (left: Entry, right: Entry) -> Bool { left.serial == right.serial }

        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.serial) < (right.time, right.serial) }
    }

    private var heap = Heap<Entry>()
    /// The serial number of each key's valid entry.
    private var valid: [Key: UInt64] = [:]
    private var lastSerial: UInt64 = 0

    /// The earliest deadline; nil if no key has one.
    var earliest: Duration? {
        mutating get {
            removeInvalid()
            return heap.min?.time
        }
    }

    /// Sets the deadline of a key, in place of its earlier deadline.
    mutating func set(_ key: Key, at time: Duration) {
        lastSerial &+= 1
        valid[key] = lastSerial
        heap.insert(Entry(time: time, serial: lastSerial, key: key))
        if heap.count > 64 + 4 * valid.count {
            heap = Heap(heap.unordered.filter { valid[$0.key] == $0.serial })
        }
    }

    mutating func cancel(_ key: Key) { valid[key] = nil }

    /// Removes and returns the earliest deadline if it is not after `now`.
    mutating func popDue(by now: Duration) -> (key: Key, time: Duration)? {
        removeInvalid()
        guard let first = heap.min, first.time <= now else { return nil }
        heap.removeMin()
        valid[first.key] = nil
        return (first.key, first.time)
    }

    private mutating func removeInvalid() {
        while let first = heap.min, valid[first.key] != first.serial { heap.removeMin() }
    }
}
