/// Virtual time, and what is to happen in it: in the order of the instants, and where they are equal in the order in
/// which it was put down.
struct ManualClock<Occurrence> {
    /// Names something that was put down, so that it can be taken back.
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

    /// When the next thing happens; nil if nothing is to happen.
    var next: Duration? { entries.last?.time }

    /// Puts something down, now at the earliest.
    @discardableResult
    mutating func schedule(_ occurrence: Occurrence, at time: Duration) -> Ticket {
        lastNumber += 1
        let entry = Entry(time: max(time, now), number: lastNumber, occurrence: occurrence)
        // The next one is the last, for that is where taking it away costs nothing.
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].time > entry.time { low = middle + 1 } else { high = middle }
        }
        entries.insert(entry, at: low)
        return Ticket(number: lastNumber)
    }

    /// Takes something back that has not happened yet.
    mutating func cancel(_ ticket: Ticket) { entries.removeAll { $0.number == ticket.number } }

    /// Lets time pass up to the next thing, and takes it out.
    mutating func advanceToNext() -> Occurrence? {
        guard let entry = entries.popLast() else { return nil }
        now = entry.time
        return entry.occurrence
    }

    /// Lets time pass with nothing happening.
    mutating func advance(to time: Duration) { now = max(now, time) }
}
