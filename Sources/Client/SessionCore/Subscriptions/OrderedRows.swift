internal import TLCP

/// Rows by key in the order in which the keys were added; all operations but iteration cost O(1) on average. (Removal
/// from an `OrderedDictionary` of swift-collections costs O(n), and keys are compared by bytes.) A copy shares what
/// neither of the two changes.
///
/// ```text
/// slots      [ (k1, row) | – | (k3, row) | (k4, row) ]     removed keys leave gaps, closed when they are the majority
/// positions  k1 → 0, k3 → 2, k4 → 3
/// ```
struct OrderedRows<Row: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: String
        var row: Row
    }

    /// The number of slots up to which gaps stay open.
    private static var leastSlots: Int { 16 }

    private var slots = ChunkedArray<Slot?>()
    private var positions = KeyNumbers()

    var count: Int { positions.count }

    /// The keys in the order in which they were added.
    var keys: [String] { slots.indices.compactMap { slots[$0]?.key } }

    /// The row of a key; setting nil removes the key, and a removed key that is added again comes last.
    subscript(key: String) -> Row? {
        get { positions[UpstreamName(key)].flatMap { slots[$0]?.row } }
        set {
            if let newValue { store(newValue, for: key) } else { remove(key) }
        }
    }

    /// The slot of a key: slots rise in the order of the keys. Nil for an unknown key. Valid until the next change.
    func slot(of key: String) -> Int? { positions[UpstreamName(key)] }

    /// The first row at a slot or after it, with its slot; nil if there is none. Valid until the next change.
    func row(from slot: Int) -> (slot: Int, row: Row)? {
        var slot = slot
        while slot < slots.count {
            if let found = slots[slot] { return (slot, found.row) }
            slot += 1
        }
        return nil
    }

    private mutating func store(_ row: Row, for key: String) {
        if let position = positions[UpstreamName(key)] {
            slots[position]?.row = row
        } else {
            positions[UpstreamName(key)] = slots.count
            slots.append(Slot(key: key, row: row))
        }
    }

    private mutating func remove(_ key: String) {
        let name = UpstreamName(key)
        guard let position = positions[name] else { return }
        positions[name] = nil
        slots[position] = nil
        if slots.count > Self.leastSlots, slots.count > positions.count * 2 { closeGaps() }
    }

    private mutating func closeGaps() {
        var rest = ChunkedArray<Slot?>()
        for index in slots.indices {
            guard let slot = slots[index] else { continue }
            positions[UpstreamName(slot.key)] = rest.count
            rest.append(slot)
        }
        slots = rest
    }

    /// Calls the body with each key and its row, in the order in which the keys were added.
    func forEach(_ body: (String, Row) -> Void) {
        for index in slots.indices {
            if let slot = slots[index] { body(slot.key, slot.row) }
        }
    }
}

/// A number for each key. Many keys are divided among several dictionaries, so that the first change after a copy does
/// not copy all of them.
struct KeyNumbers: Sendable {
    /// The average number of keys of a dictionary above which the number of dictionaries grows.
    private static let mostKeys = 512
    /// The factor by which the number of dictionaries grows.
    private static let growth = 16

    private var parts: [[UpstreamName: Int]] = [[:]]
    private(set) var count = 0

    subscript(key: UpstreamName) -> Int? {
        get { parts[part(of: key)][key] }
        set {
            let part = part(of: key)
            if let newValue {
                if parts[part].updateValue(newValue, forKey: key) == nil { count += 1 }
                if count > parts.count * Self.mostKeys { divide() }
            } else if parts[part].removeValue(forKey: key) != nil {
                count -= 1
            }
        }
    }

    private func part(of key: UpstreamName) -> Int {
        parts.count == 1 ? 0 : Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) >> 32) & (parts.count - 1)
    }

    private mutating func divide() {
        let former = parts
        parts = Array(repeating: [:], count: former.count * Self.growth)
        for (key, number) in former.lazy.joined() { parts[part(of: key)][key] = number }
    }
}
