// The time type of every decision, session and stream alike.
@_exported public import Primitives

/// The time of an event and a random number drawn for it: the only inputs of a machine besides the event.
package struct EventContext: Sendable {
    /// The time of the step.
    package var now: Moment
    /// A random number, 0 ≤ random < 1. Each input of the driver has a number of its own, except the lines of a connection,
    /// which have the number of the input before.
    package var random: Double

    package init(now: Moment, random: Double = 0) {
        self.now = now
        self.random = random
    }
}

extension Duration {
    /// Ten years, in seconds: the longest time that a session uses.
    private static let longestSeconds = 315_360_000.0

    /// A time that an option gives in seconds, to the nearest microsecond; negative and impossible values count as 0,
    /// and more than ten years as ten years.
    init(optionSeconds seconds: Double) {
        // Rounded: half of all decimal fractions are stored slightly below their value, and truncation would lose a
        // unit.
        self =
            seconds > 0 ? .microseconds(Int64((Swift.min(seconds, Self.longestSeconds) * 1_000_000).rounded())) : .zero
    }

    /// The duration in seconds, for an option; at most ten years.
    var optionSeconds: Double { Double(Swift.min(self, .seconds(Self.longestSeconds)).wholeMilliseconds) / 1000 }

    /// A uniformly distributed part of the duration in whole milliseconds, from zero to the duration itself.
    func randomShare(random: Double) -> Duration {
        let whole = wholeMilliseconds
        return .milliseconds(Swift.min(whole, Int(Double(whole + 1) * Swift.max(0, Swift.min(random, 1)))))
    }

    /// The rest of the duration after some of it has passed; never negative.
    func remaining(after elapsed: Duration) -> Duration { Swift.max(.zero, self - elapsed) }
}
