internal import StreamIO

/// Limits the runs that the library asks for at once although nothing has occurred: a number of them in a row, then one
/// each millisecond.
struct RetryPace {
    /// The time between runs beyond the burst.
    static let milliseconds: UInt64 = 1
    private static let interval = Duration.milliseconds(1)
    private static let burst = Duration.milliseconds(100)

    /// The time at which the runs so far would have ended, at one run in each interval.
    private var end = Moment.zero

    /// A run was made.
    mutating func note(at now: Moment) { end = max(end, now) + Self.interval }

    /// Whether a run may be made.
    func permits(at now: Moment) -> Bool { end <= now + Self.burst }
}
