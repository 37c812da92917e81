#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The time of day.
enum WallTime {
    /// Seconds since 1970.
    static func secondsSince1970() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
