/// Which key is due when: each key has at most one deadline, the earliest comes first, equal ones in the order they were set.
struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Entry {
        var time: Duration
        var order: UInt64
        var key: Key

        func isBefore(_ other: Entry) -> Bool {
            time != other.time ? time < other.time : order < other.order
        }
    }

    /// A binary heap; entries whose order is not the current one of their key are left over and passed by.
    private var heap: [Entry] = []
    private var current: [Key: UInt64] = [:]
    private var lastOrder: UInt64 = 0

    /// Whether no key has a deadline.
    var isEmpty: Bool { current.isEmpty }

    /// The earliest deadline.
    var earliest: Duration? {
        mutating get {
            dropStale()
            return heap.first?.time
        }
    }

    /// Gives the key this deadline, in place of the one it had.
    mutating func set(_ key: Key, at time: Duration) {
        lastOrder &+= 1
        current[key] = lastOrder
        heap.append(Entry(time: time, order: lastOrder, key: key))
        siftUp(heap.count - 1)
        if heap.count > 64 + 4 * current.count { compact() }
    }

    /// Takes the deadline away.
    mutating func cancel(_ key: Key) {
        current[key] = nil
    }

    /// Takes the first key out that is due by now.
    mutating func popDue(by now: Duration) -> (key: Key, time: Duration)? {
        dropStale()
        guard let first = heap.first, first.time <= now else { return nil }
        removeFirst()
        current[first.key] = nil
        return (first.key, first.time)
    }

    private mutating func dropStale() {
        while let first = heap.first, current[first.key] != first.order {
            removeFirst()
        }
    }

    private mutating func compact() {
        let live = heap.filter { current[$0.key] == $0.order }
        heap.removeAll(keepingCapacity: true)
        for entry in live {
            heap.append(entry)
            siftUp(heap.count - 1)
        }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[parent]) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
