#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// A point in time: nanoseconds since an unspecified epoch. Moments of one process can be compared and subtracted;
/// they are unrelated to the wall clock.
///
/// Code that decides takes moments as arguments; only code that acts reads the clock.
package struct Moment: Comparable, Hashable, Sendable {
    /// Nanoseconds since the epoch.
    package let nanoseconds: Int64

    /// The moment that lies this many nanoseconds after the epoch.
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The epoch.
    package static let zero = Moment(nanoseconds: 0)

    /// The last moment that can be represented.
    package static let never = Moment(nanoseconds: .max)

    /// Reads the system's monotonic clock. A value, so that it can be passed where a clock is expected.
    package static let monotonic: @Sendable () -> Moment = {
        var reading = timespec()
        clock_gettime(CLOCK_MONOTONIC, &reading)
        return Moment(nanoseconds: Int64(reading.tv_sec) &* 1_000_000_000 &+ Int64(reading.tv_nsec))
    }

    /// Whether one moment comes before another.
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The moment a number of nanoseconds later; at most the last moment that can be represented.
    package func advanced(by count: Int64) -> Moment {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
        return Moment(nanoseconds: overflow ? (count < 0 ? .min : .max) : sum)
    }

    /// The moment a duration later; at most the last moment that can be represented (292 years after the epoch).
    package static func + (moment: Moment, duration: Duration) -> Moment {
        moment.advanced(by: duration.clampedNanoseconds)
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

extension Duration {
    /// The duration in nanoseconds, clamped to the range of `Int64`.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }

    /// Seconds with three decimals; not below 0.
    package var roundedSeconds: Double {
        let (seconds, attoseconds) = components
        return max((Double(seconds) * 1000 + Double(attoseconds) / 1e15).rounded() / 1000, 0)
    }
}
