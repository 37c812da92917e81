/// Things that wait to be written, in their natural order whatever order they come in.
///
/// They mostly come in that order, many at a time, and are taken in small batches: so the order is kept beside the set
/// and made anew only when something comes out of turn.
struct DueQueue<ID: Comparable & Hashable & Sendable>: Sendable {
    private var waiting: Set<ID> = []
    /// All of `waiting` in order from `head` on, among others that wait no more; void if not `isOrdered`.
    private var order: [ID] = []
    private var head = 0
    private var isOrdered = true

    /// Whether nothing waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Adds one; false if it waits already.
    @discardableResult
    mutating func insert(_ id: ID) -> Bool {
        guard waiting.insert(id).inserted else { return false }
        if order.count > 2 * waiting.count + 64 {
            order.removeAll()
            isOrdered = false
        }
        guard isOrdered else { return true }
        if let last = order.last, last >= id { isOrdered = false } else { order.append(id) }
        return true
    }

    /// Takes one out.
    mutating func remove(_ id: ID) { waiting.remove(id) }

    /// Takes all out.
    mutating func removeAll() { self = DueQueue() }

    /// The first that waits; it stays until it is removed.
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
