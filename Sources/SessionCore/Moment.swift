/// A point in time as the machines see it: nanoseconds since an epoch that only the driver knows.
///
/// Moments of one process can be compared and subtracted; they say nothing about the wall clock.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the epoch.
    package let nanoseconds: Int64

    /// The moment that lies this many nanoseconds after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The epoch.
    package static let zero = Moment(nanoseconds: 0)

    /// Whether one moment comes before another.
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment a duration later; it stops at the last moment that can be told (292 years from the epoch).
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

/// What a machine may know of the world outside at one step: the time, and one random number.
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
    /// The duration in nanoseconds, held inside what `Int64` can tell.
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
