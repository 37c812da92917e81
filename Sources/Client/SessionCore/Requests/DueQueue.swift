/// A queue of pending identifiers, returned in ascending order.
///
/// Identifiers are mostly inserted in ascending order, many at a time, and removed in small batches. A heap would not
/// support removal by identifier, so the order is kept beside a set and rebuilt after an insertion out of order.
struct DueQueue<ID: Comparable & Hashable & Sendable>: Sendable {
    /// How many removed elements `order` may keep beyond the number of present ones.
    private static var spareEntries: Int { 64 }

    private var waiting: Set<ID> = []
    /// The elements of `waiting` in order from `head` on, among removed ones; invalid unless `isOrdered`.
    private var order: [ID] = []
    private var head = 0
    private var isOrdered = true

    /// Whether the queue is empty.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds an identifier; false if it is already in the queue.
    @discardableResult
    mutating func insert(_ id: ID) -> Bool {
        guard waiting.insert(id).inserted else { return false }
        if order.count > 2 * waiting.count + Self.spareEntries {
            order.removeAll()
            isOrdered = false
        }
        guard isOrdered else { return true }
        if let last = order.last, last >= id { isOrdered = false } else { order.append(id) }
        return true
    }

    /// Removes an identifier.
    mutating func remove(_ id: ID) { waiting.remove(id) }

    /// Removes all identifiers.
    mutating func removeAll() { self = DueQueue() }

    /// The least identifier; it stays in the queue until it is removed.
    mutating func first() -> ID? {
        if waiting.isEmpty {
            removeAll()
            return nil
        }
        if !isOrdered {
            order = waiting.sorted()
            head = 0
            isOrdered = true
        }
        while !waiting.contains(order[head]) { head += 1 }
        return order[head]
    }
}
