/// Rows by key that also remember in which order the keys came; every operation but the walk costs O(1) on average.
///
/// ```text
/// slots      [ (k1, row) | – | (k3, row) | (k4, row) ]     removed keys leave a gap, closed when gaps prevail
/// positions  k1 → 0, k3 → 2, k4 → 3
/// ```
struct OrderedRows<Row: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: String
        var row: Row
    }

    private var slots: [Slot?] = []
    private var positions: [RowKey: Int] = [:]

    /// How many keys there are.
    var count: Int { positions.count }

    /// The keys in the order in which they came.
    var keys: [String] { slots.compactMap { $0?.key } }

    /// The row of a key; setting nil removes the key, and a key that comes again then comes last.
    subscript(key: String) -> Row? {
        get { positions[RowKey(key)].flatMap { slots[$0]?.row } }
        set {
            if let newValue { store(newValue, for: key) } else { remove(key) }
        }
    }

    private mutating func store(_ row: Row, for key: String) {
        if let position = positions[RowKey(key)] {
            slots[position]?.row = row
        } else {
            positions[RowKey(key)] = slots.count
            slots.append(Slot(key: key, row: row))
        }
    }

    private mutating func remove(_ key: String) {
        guard let position = positions.removeValue(forKey: RowKey(key)) else { return }
        slots[position] = nil
        if slots.count > 16, slots.count > positions.count * 2 { closeGaps() }
    }

    private mutating func closeGaps() {
        slots.removeAll { $0 == nil }
        for (position, slot) in slots.enumerated() {
            if let slot { positions[RowKey(slot.key)] = position }
        }
    }

    /// Forgets everything.
    mutating func removeAll() {
        slots.removeAll()
        positions.removeAll()
    }

    /// Calls the body with each key and its row, in the order in which the keys came.
    func forEach(_ body: (String, Row) -> Void) {
        for case .some(let slot) in slots { body(slot.key, slot.row) }
    }
}
