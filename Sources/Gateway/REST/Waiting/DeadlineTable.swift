internal import SessionCore

/// Names an action in a `DeadlineTable`.
struct DeadlineID: Sendable, Hashable, Comparable {
    fileprivate let due: Moment
    fileprivate let number: UInt64

    /// The earlier one is the lesser; of the same time, the one that was noted first.
    static func < (left: DeadlineID, right: DeadlineID) -> Bool {
        left.due == right.due ? left.number < right.number : left.due < right.due
    }
}

/// What is to be done at which moment. An ordered array: thousands wait at a time, not millions.
struct DeadlineTable<Action>: ~Copyable {
    /// The latest first, so that the next one is taken from the end.
    private var entries: [(id: DeadlineID, action: Action)] = []
    private var nextNumber: UInt64 = 1

    /// Nothing to do.
    init() {}

    /// The number of actions.
    var count: Int { entries.count }

    /// When the next action is due; nil: none is.
    var next: Moment? { entries.last?.id.due }

    /// Notes an action.
    mutating func add(_ action: Action, at due: Moment) -> DeadlineID {
        let id = DeadlineID(due: due, number: nextNumber)
        nextNumber &+= 1
        entries.insert((id, action), at: place(of: id))
        return id
    }

    /// Strikes an action out, unless it was taken.
    mutating func remove(_ id: DeadlineID) {
        let place = place(of: id)
        if entries.indices.contains(place), entries[place].id == id { entries.remove(at: place) }
    }

    /// Takes all actions that are due, the earliest first.
    mutating func take(dueBy now: Moment) -> [Action] {
        var actions: [Action] = []
        while let last = entries.last, last.id.due <= now {
            actions.append(last.action)
            entries.removeLast()
        }
        return actions
    }

    /// Takes all actions, the earliest first.
    mutating func takeAll() -> [Action] {
        defer { entries.removeAll() }
        return entries.reversed().map(\.action)
    }

    /// Where an id stands, or would stand.
    private func place(of id: DeadlineID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id > id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
