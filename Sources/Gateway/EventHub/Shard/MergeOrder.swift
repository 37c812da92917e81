internal import HeapModule

/// The order in which channels are merged: an entry for each channel, with the sequence of its next event.
struct MergeOrder {
    private struct Entry: Comparable {
        let sequence: UInt64
        let place: Int

        static func < (left: Entry, right: Entry) -> Bool { left.sequence < right.sequence }
    }

    private var entries = Heap<Entry>()

    /// Sets the sequence of the next event of a channel that is new, or that `next` returned; nil: the channel has none.
    mutating func set(_ sequence: UInt64?, at place: Int) {
        if let sequence { entries.insert(Entry(sequence: sequence, place: place)) }
    }

    /// Removes all channels and keeps the memory.
    mutating func removeAll() { while entries.popMin() != nil {} }

    /// The channel with the oldest event; nil if there are no events.
    var first: Int? { entries.min?.place }

    /// Takes out the channel with the oldest event, until its next sequence is set. `until` is the sequence at which
    /// another channel follows; nil if there are no events.
    mutating func next() -> (place: Int, until: UInt64)? {
        guard let entry = entries.popMin() else { return nil }
        return (entry.place, entries.min?.sequence ?? .max)
    }
}
