extension Duration {
    /// A time that an option gives in seconds, to the nearest microsecond; negative and impossible values count as 0,
    /// and what exceeds ten years as ten years.
    init(optionSeconds seconds: Double) {
        // Half of all decimal fractions lie below what was written: cut off, they would lack a millisecond.
        self = seconds > 0 ? .microseconds(Int64((Swift.min(seconds, 315_360_000) * 1_000_000).rounded())) : .zero
    }

    /// The whole milliseconds of a duration, for the wire.
    var wholeMilliseconds: Int { Int(clampedNanoseconds / 1_000_000) }

    /// The duration in seconds, for an option; at most the ten years that an option can mean.
    var optionSeconds: Double { Double(Swift.min(self, .seconds(315_360_000)).wholeMilliseconds) / 1000 }

    /// A uniform share of the duration, in whole milliseconds, zero and the duration itself included.
    func randomShare(random: Double) -> Duration {
        let whole = wholeMilliseconds
        return .milliseconds(Swift.min(whole, Int(Double(whole + 1) * Swift.max(0, Swift.min(random, 1)))))
    }

    /// What is left of the duration after some of it has passed; never negative.
    func remaining(after elapsed: Duration) -> Duration { Swift.max(.zero, self - elapsed) }
}
