/// The pseudo-random number generator SplitMix64: equal seeds produce equal numbers. Its numbers are not secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    /// The difference of two consecutive states.
    package static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    /// A generator with a seed.
    package init(seed: UInt64) { state = seed }

    /// A generator for a part of the program, independent of those of other parts.
    package init(seed: UInt64, part: String) { self.init(seed: seed ^ FNV1a(of: part).value) }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        defer { state &+= Self.increment }
        return Self.mixed(state)
    }

    /// The number that follows a state.
    package static func mixed(_ state: UInt64) -> UInt64 {
        var bits = state &+ increment
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
