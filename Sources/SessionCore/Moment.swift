/// A point in time: nanoseconds since an epoch that the driver chooses.
///
/// Moments of one process can be compared and subtracted; they are unrelated to the wall clock.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the epoch.
    package let nanoseconds: Int64

    /// The moment that lies this many nanoseconds after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The epoch.
    package static let zero = Moment(nanoseconds: 0)

    /// Whether one moment comes before another.
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment a duration later; it saturates at the last representable moment (292 years from the epoch).
    package static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return Moment(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The moment a duration earlier.
    package static func - (moment: Moment, duration: Duration) -> Moment {
        let (difference, overflow) = moment.nanoseconds.subtractingReportingOverflow(duration.clampedNanoseconds)
        return Moment(nanoseconds: overflow ? (duration < .zero ? .max : .min) : difference)
    }

    /// The time from the right moment to the left one; negative if the left one is earlier.
    package static func - (left: Moment, right: Moment) -> Duration {
        let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
        return .nanoseconds(overflow ? (left < right ? Int64.min : .max) : difference)
    }
}

/// The time of an event and a random number drawn for it: all that a machine learns from outside besides the event.
package struct EventContext: Sendable {
    /// The time of the step.
    package var now: Moment
    /// A random number, 0 ≤ random < 1, drawn for this step alone.
    package var random: Double

    /// A context.
    package init(now: Moment, random: Double = 0) {
        self.now = now
        self.random = random
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to `Int64`.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Duration {
    /// A time that an option gives in seconds, to the nearest microsecond; negative and impossible values count as 0,
    /// and more than ten years as ten years.
    init(optionSeconds seconds: Double) {
        // Rounded: half of all decimal fractions are stored slightly below their value, and truncation would lose a
        // unit.
        self = seconds > 0 ? .microseconds(Int64((Swift.min(seconds, 315_360_000) * 1_000_000).rounded())) : .zero
    }

    /// The whole milliseconds of a duration, for the wire.
    var wholeMilliseconds: Int { Int(clampedNanoseconds / 1_000_000) }

    /// The duration in seconds, for an option; at most the ten years that an option can mean.
    var optionSeconds: Double { Double(Swift.min(self, .seconds(315_360_000)).wholeMilliseconds) / 1000 }

    /// A uniformly distributed part of the duration in whole milliseconds, from zero to the duration itself.
    func randomShare(random: Double) -> Duration {
        let whole = wholeMilliseconds
        return .milliseconds(Swift.min(whole, Int(Double(whole + 1) * Swift.max(0, Swift.min(random, 1)))))
    }

    /// What is left of the duration after some of it has passed; never negative.
    func remaining(after elapsed: Duration) -> Duration { Swift.max(.zero, self - elapsed) }
}
