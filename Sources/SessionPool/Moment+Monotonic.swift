internal import Glibc
package import SessionCore

extension Moment {
    /// The present reading of the system's monotonic clock.
    @Sendable package static func monotonic() -> Moment {
        var reading = timespec()
        clock_gettime(CLOCK_MONOTONIC, &reading)
        return Moment(nanoseconds: Int64(reading.tv_sec) &* 1_000_000_000 &+ Int64(reading.tv_nsec))
    }
}
