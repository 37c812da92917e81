internal import Synchronization

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

    /// The whole milliseconds, rounded towards 0: the unit of TLCP.
    package var wholeMilliseconds: Int { Int(clampedNanoseconds / 1_000_000) }

    /// Seconds with three decimals; not below 0.
    package var roundedSeconds: Double {
        let (seconds, attoseconds) = components
        return max((Double(seconds) * 1000 + Double(attoseconds) / 1e15).rounded() / 1000, 0)
    }
}

/// Durations counted in buckets whose bounds double. Cheap enough for the hot path; read by any thread.
package final class LatencyHistogram: Sendable {
    /// The upper bounds of the buckets, in seconds; one more bucket, without a bound, follows them.
    package static let bounds: [Double] = (0..<bucketCount - 1).map { firstBound * Double(1 << $0) }

    private static let bucketCount = 20
    private static let firstBound = 0.000_032
    private static let firstBoundNanoseconds: UInt64 = 32_000

    // Allocated once and never moved; each counter is atomic by itself.
    private nonisolated(unsafe) let counters: UnsafeMutablePointer<Atomic<UInt64>>
    private let nanoseconds = Atomic<UInt64>(0)

    package init() {
        counters = .allocate(capacity: Self.bucketCount)
        for index in 0..<Self.bucketCount { (counters + index).initialize(to: Atomic(0)) }
    }

    deinit {
        counters.deinitialize(count: Self.bucketCount)
        counters.deallocate()
    }

    /// Counts a measurement, `count` times.
    package func record(from start: Moment, to end: Moment, times count: Int = 1) {
        let value = UInt64(clamping: end.nanoseconds &- start.nanoseconds)
        let steps = value / Self.firstBoundNanoseconds
        let index = min(Self.bucketCount - 1, UInt64.bitWidth - steps.leadingZeroBitCount)
        let count = UInt64(clamping: count)
        counters[index].wrappingAdd(count, ordering: .relaxed)
        nanoseconds.wrappingAdd(value &* count, ordering: .relaxed)
    }

    /// The counts of the buckets, each by itself, not added up.
    package var counts: [UInt64] { (0..<Self.bucketCount).map { counters[$0].load(ordering: .relaxed) } }

    /// The sum of all measurements, in seconds.
    package var sum: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1_000_000_000 }
}
