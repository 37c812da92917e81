/// The entries of pending events, in order. An entry keeps its place while others are emptied or removed; the memory of
/// emptied entries is reclaimed when they are the majority.
struct PendingQueue {
    /// The number of emptied entries up to which they stay.
    private static let leastEmptied = 64

    private var entries: [PendingEntry] = []
    private var head = 0
    private var nextPlace = 0
    private var contentWeight = 0
    /// The number of entries that are not empty.
    private(set) var count = 0

    /// The approximate size in bytes, that of emptied entries included.
    var weight: Int { contentWeight + (entries.count - count) * MemoryLayout<PendingEntry>.stride }

    var all: [PendingEntry] { entries.filter { !$0.isVoid } }

    var isEmpty: Bool { count == 0 }

    /// The entry at a place, which must not have been emptied.
    subscript(place: Int) -> PendingEntry {
        _read { yield entries[index(of: place)] }
        _modify { yield &entries[index(of: place)] }
    }

    /// Adds an entry at the end and returns its place. Places rise.
    @discardableResult
    mutating func append(_ entry: PendingEntry) -> Int {
        var entry = entry
        entry.place = nextPlace
        nextPlace += 1
        count += 1
        contentWeight += entry.weight
        entries.append(entry)
        return entry.place
    }

    /// Empties an entry, whose place is not valid any more.
    mutating func empty(_ place: Int) {
        let index = index(of: place)
        guard !entries[index].isVoid else { return }
        entries[index].content = .void
        entries[index].row = nil
        contentWeight -= entries[index].weight
        count -= 1
        guard entries.count - count > max(Self.leastEmptied, count) else { return }
        entries.removeAll(where: \.isVoid)
        head = 0
    }

    /// The first entry; nil if all are empty.
    mutating func first() -> PendingEntry? {
        while head < entries.count, entries[head].isVoid { head += 1 }
        return head < entries.count ? entries[head] : nil
    }

    /// The first place from a place on whose entry meets a condition; nil if there is none.
    func place(from place: Int, where condition: (PendingEntry) -> Bool) -> Int? {
        entries[lowerBound(place)...].first(where: condition)?.place
    }

    mutating func replace(_ place: Int, by content: PendingEntry.Content, weight: Int) {
        let index = index(of: place)
        contentWeight += weight - entries[index].weight
        entries[index].content = content
        entries[index].weight = weight
    }

    mutating func removeAll(from channels: Set<Int>) -> [PendingEntry] {
        let removed = entries.filter { channels.contains($0.channel) && !$0.isVoid }
        count -= removed.count
        contentWeight -= removed.reduce(0) { $0 + $1.weight }
        entries.removeAll { channels.contains($0.channel) || $0.isVoid }
        head = 0
        return removed
    }

    private func index(of place: Int) -> Int {
        let index = lowerBound(place)
        precondition(index < entries.count && entries[index].place == place, "the entry was removed")
        return index
    }

    /// The index of the first entry whose place is not less than this one.
    private func lowerBound(_ place: Int) -> Int {
        guard let first = entries.first?.place else { return 0 }
        // The usual case: no entry between them was removed.
        let direct = place - first
        if entries.indices.contains(direct), entries[direct].place == place { return direct }
        return entries.indices.partitioningIndex { entries[$0].place >= place }
    }
}
