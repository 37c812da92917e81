/// The hash FNV-1a of 64 bits: the same in every process, unlike that of `Hasher`.
package struct FNV1a: Sendable {
    /// The hash.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of bytes.
    package init(of bytes: [UInt8]) {
        for byte in bytes { add(byte) }
    }

    /// The hash of a text.
    package init(of text: String) {
        for byte in text.utf8 { add(byte) }
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}

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
