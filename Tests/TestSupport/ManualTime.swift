package import SessionCore
internal import Synchronization

/// The clocks of something under test, moved by hand.
package final class ManualTime: Sendable {
    private let seconds = Mutex(1_000.0)

    /// Clocks that stand.
    package init() {}

    /// The time that only differences of count.
    package var moment: Moment { .zero + .seconds(seconds.withLock { $0 }) }
    /// The time of day, in seconds since 1970.
    package var wall: Double { 1_700_000_000 + seconds.withLock { $0 } }

    /// Lets time pass.
    package func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
}
