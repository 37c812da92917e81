/// A small random number generator (SplitMix64) whose whole course follows from its seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable {
    private var state: UInt64

    /// Starts the course of a seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// The generator for one part of something: independent of those of all other parts.
    package init(seed: UInt64, part: String) {
        // FNV-1a: any hash would do that is the same in every process, which `Hasher` is not.
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
