import SessionCore
import Synchronization

@testable import Gateway

/// The clocks of a gateway under test, moved by hand.
final class ManualTime: Sendable {
    private let seconds = Mutex(1_000.0)

    /// The time that only differences of count.
    var moment: Moment { .zero + .seconds(seconds.withLock { $0 }) }
    /// The time of day.
    var wall: Double { 1_700_000_000 + seconds.withLock { $0 } }

    /// Lets time pass.
    func pass(_ seconds: Double) { self.seconds.withLock { $0 += seconds } }
}
