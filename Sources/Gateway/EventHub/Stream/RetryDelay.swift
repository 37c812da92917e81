internal import Primitives

/// Random times to wait before a reconnect, so that clients do not reconnect at the same time.
struct RetryDelay {
    private let base: Duration
    private var generator: SplitMix64

    /// Delays from `base` to twice as much, determined by the seed.
    init(base: Duration, seed: UInt64) {
        self.base = base
        generator = SplitMix64(seed: seed)
    }

    /// The next delay, in milliseconds; a multiple of it where an early reconnect would have the same result.
    mutating func milliseconds(times factor: Int = 1) -> Int {
        let (seconds, attoseconds) = base.components
        let least = Int(clamping: seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000) * factor
        return least + Int(generator.next() % UInt64(max(1, least)))
    }

    /// A delay of a range, in milliseconds.
    mutating func milliseconds(in range: ClosedRange<Int>) -> Int { .random(in: range, using: &generator) }

    /// A number, 0 ≤ fraction < 1.
    mutating func fraction() -> Double { Double(generator.next() >> 11) / Double(1 << 53) }
}
