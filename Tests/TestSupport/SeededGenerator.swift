package import Primitives

/// The generator of random tests. Tests print the seed.
package typealias SeededGenerator = SplitMix64

extension SeededGenerator {
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
