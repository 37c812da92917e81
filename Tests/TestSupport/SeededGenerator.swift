/// A pseudo-random number generator (SplitMix64); equal seeds produce equal numbers. Tests print the seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator for a seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Random bytes, mostly of an alphabet, so that they resemble valid input.
    package mutating func bytes(from alphabet: String, upTo length: Int) -> [UInt8] {
        let letters = Array(alphabet.utf8)
        let count = Int.random(in: 0...length, using: &self)
        return (0..<count).map { _ in
            Int.random(in: 0..<20, using: &self) == 0
                ? UInt8.random(in: 0...255, using: &self) : letters[Int.random(in: letters.indices, using: &self)]
        }
    }
}
