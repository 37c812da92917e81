/// A set of 1-based field positions; no allocation up to 64 fields.
public struct FieldSet: Sendable, Hashable {
    private var low: UInt64
    private var high: [UInt64]

    /// The empty set.
    public init() {
        low = 0
        high = []
    }

    /// The set 1…count.
    public init(all count: Int) {
        self.init()
        guard count > 0 else { return }
        low = count >= 64 ? .max : (1 << UInt64(count)) &- 1
        guard count > 64 else { return }
        high = Array(repeating: .max, count: (count - 1) / 64)
        let rest = count % 64
        if rest > 0 { high[high.count - 1] = (1 << UInt64(rest)) &- 1 }
    }

    /// Whether a position is in the set.
    public func contains(_ position: Int) -> Bool {
        if position < 1 { return false }
        let bit = position - 1
        if bit < 64 { return low & (1 << UInt64(bit)) != 0 }
        let word = bit / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(bit % 64)) != 0
    }

    /// Adds a position; positions below 1 are ignored.
    public mutating func insert(_ position: Int) {
        if position < 1 { return }
        let bit = position - 1
        if bit < 64 {
            low |= 1 << UInt64(bit)
            return
        }
        let word = bit / 64 - 1
        while high.count <= word { high.append(0) }
        high[word] |= 1 << UInt64(bit % 64)
    }

    /// Adds all positions of another set.
    public mutating func formUnion(_ other: FieldSet) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for index in other.high.indices { high[index] |= other.high[index] }
    }

    /// Removes a position.
    public mutating func remove(_ position: Int) {
        if position < 1 { return }
        let bit = position - 1
        if bit < 64 {
            low &= ~(1 << UInt64(bit))
            return
        }
        let word = bit / 64 - 1
        guard word < high.count else { return }
        high[word] &= ~(1 << UInt64(bit % 64))
        while high.last == 0 { high.removeLast() }
    }

    /// Calls the body with each position, in ascending order.
    public func forEach<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
        try Self.forEachBit(of: low, after: 0, body)
        for (word, bits) in high.enumerated() { try Self.forEachBit(of: bits, after: (word + 1) * 64, body) }
    }

    private static func forEachBit<Failure: Error>(
        of bits: UInt64,
        after offset: Int,
        _ body: (Int) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = bits
        while rest != 0 {
            try body(offset + rest.trailingZeroBitCount + 1)
            rest &= rest &- 1
        }
    }

    /// The positions in ascending order.
    public var positions: [Int] {
        var list: [Int] = []
        list.reserveCapacity(count)
        forEach { list.append($0) }
        return list
    }

    /// How many positions are in the set.
    public var count: Int { high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }

    /// Whether the set is empty.
    public var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }
}
