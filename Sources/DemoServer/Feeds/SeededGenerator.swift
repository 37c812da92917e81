/// A pseudo-random number generator (SplitMix64); equal seeds produce equal numbers.
package struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// A generator with a seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// A generator for a part of the program, independent of those of other parts.
    package init(seed: UInt64, part: String) {
        // FNV-1a, because `Hasher` differs between processes.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in part.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        self.init(seed: seed ^ hash)
    }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return bits ^ (bits >> 31)
    }

    /// A random pause within bounds, in whole microseconds.
    mutating func pause(in bounds: ClosedRange<Duration>) -> Duration {
        let low = bounds.lowerBound.wholeMicroseconds
        let high = bounds.upperBound.wholeMicroseconds
        return .microseconds(Int64.random(in: low...max(low, high), using: &self))
    }
}
