internal import Primitives

/// Limits the runs that the library asks for at once although nothing has occurred: a number of them in a row, then one
/// each millisecond, or fewer if they take longer than a quarter of the time.
struct RetryPace {
    /// The time between short runs beyond the burst.
    static let milliseconds: UInt64 = 1
    private static let interval = Duration.milliseconds(1)
    private static let burst = Duration.milliseconds(100)
    /// A run costs this many times its duration.
    private static let cost = 4

    /// The time at which the runs so far would have ended at their pace.
    private var end = Moment.zero

    /// A run was made, which took some time.
    mutating func note(at now: Moment, duration: Duration) {
        end = max(end, now) + max(Self.interval, duration * Self.cost)
    }

    /// Whether a run may be made.
    func permits(at now: Moment) -> Bool { end <= now + Self.burst }
}
