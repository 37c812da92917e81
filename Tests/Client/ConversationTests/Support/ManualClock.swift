/// Virtual time with scheduled events, ordered by time and then by the order of scheduling.
struct ManualClock<Occurrence> {
    /// Identifies a scheduled event, so that it can be cancelled.
    struct Ticket: Hashable {
        fileprivate let number: Int
    }

    private struct Entry {
        var time: Duration
        var number: Int
        var occurrence: Occurrence
    }

    /// The present instant.
    private(set) var now = Duration.zero
    private var entries: [Entry] = []
    private var lastNumber = 0

    /// The time of the next event; nil if there is none.
    var next: Duration? { entries.last?.time }

    /// Schedules an event, now at the earliest.
    @discardableResult
    mutating func schedule(_ occurrence: Occurrence, at time: Duration) -> Ticket {
        lastNumber += 1
        let entry = Entry(time: max(time, now), number: lastNumber, occurrence: occurrence)
        // The next event is the last element, where removal costs O(1).
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].time > entry.time { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
        return Ticket(number: lastNumber)
    }

    /// Cancels an event that has not happened yet.
    mutating func cancel(_ ticket: Ticket) { entries.removeAll { $0.number == ticket.number } }

    /// Lets time pass up to the next event, and removes it.
    mutating func advanceToNext() -> Occurrence? {
        guard let entry = entries.popLast() else { return nil }
        now = entry.time
        return entry.occurrence
    }

    /// Lets time pass without events.
    mutating func advance(to time: Duration) { now = max(now, time) }
}
