/// Random times to wait before a reconnect, so that clients do not reconnect at the same time.
struct RetryDelay {
    private let base: Duration
    private var state: UInt64

    /// Delays from `base` to twice as much, determined by the seed.
    init(base: Duration, seed: UInt64) {
        self.base = base
        state = seed
    }

    /// The next delay, in milliseconds.
    mutating func milliseconds() -> Int {
        let (seconds, attoseconds) = base.components
        let least = Int(clamping: seconds &* 1000 &+ attoseconds / 1_000_000_000_000_000)
        return least + Int(next() % UInt64(max(1, least)))
    }

    /// A number, 0 ≤ fraction < 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }

    // SplitMix64: the numbers need not be unpredictable.
    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
