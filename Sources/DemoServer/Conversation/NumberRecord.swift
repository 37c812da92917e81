/// Which numbers were seen, where they come mostly in order; bounded by forgetting that low ones were missing.
struct NumberRecord: Sendable {
    private var seenBelow = 1
    private var seen: Set<Int> = []
    private let capacity: Int

    /// Nothing seen.
    ///
    /// - Parameters:
    ///   - capacity: Numbers out of order that are remembered one by one.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Notes a number from 1; false if it was seen before.
    mutating func insert(_ number: Int) -> Bool {
        guard number >= seenBelow, seen.insert(number).inserted else { return false }
        if seen.count > capacity, let lowest = seen.min() { seenBelow = lowest }
        while seen.remove(seenBelow) != nil { seenBelow += 1 }
        return true
    }
}
