package import SessionCore
internal import Synchronization

/// Manual clocks of a tested object.
package final class ManualTime: Sendable {
    private let seconds = Mutex(1_000.0)

    /// Clocks at their start.
    package init() {}

    /// The monotonic time.
    package var moment: Moment { .zero + .seconds(seconds.withLock { $0 }) }
    /// The time of day, in seconds since 1970.
    package var wall: Double { 1_700_000_000 + seconds.withLock { $0 } }

    /// Lets time pass.
    package func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
}
