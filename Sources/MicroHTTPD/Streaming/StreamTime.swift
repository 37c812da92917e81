internal import Glibc

/// A moment on the system's monotonic clock.
package struct StreamTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary start.
    package var nanoseconds: UInt64

    /// The moment with that reading.
    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The present moment.
    package static func now() -> StreamTime {
        var reading = timespec()
        clock_gettime(CLOCK_MONOTONIC, &reading)
        return StreamTime(nanoseconds: UInt64(reading.tv_sec) &* 1_000_000_000 &+ UInt64(reading.tv_nsec))
    }

    /// The moment that much later; the far end of time if that cannot be expressed.
    package static func + (moment: StreamTime, duration: Duration) -> StreamTime {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return StreamTime(nanoseconds: overflow ? .max : sum)
    }

    /// Compares two moments.
    package static func < (left: StreamTime, right: StreamTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

extension Duration {
    /// The duration in nanoseconds: 0 for a negative one, a great many for one that does not fit.
    var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow, product <= .max - 1_000_000_000 else { return .max }
        return product + UInt64(attoseconds / 1_000_000_000)
    }
}
