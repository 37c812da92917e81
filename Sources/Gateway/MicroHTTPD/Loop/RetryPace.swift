internal import Primitives

/// Limits the runs that the library asks for at once although nothing has occurred: a number of them in a row, then one
/// each millisecond, or fewer if they take longer than a quarter of the time. Runs that do nothing, time after time, come
/// at longer and longer intervals.
struct RetryPace {
    /// The time between short runs beyond the burst.
    private static let interval = Duration.milliseconds(1)
    /// The longest time between runs because earlier ones did nothing.
    private static let longestInterval = Duration.milliseconds(100)
    /// The runs that may do nothing before the interval grows.
    private static let mostIdle = 100
    private static let burst = Duration.milliseconds(100)
    /// A run costs this many times its duration.
    private static let cost = 4

    /// The time at which the runs so far would have ended at their pace.
    private var end = Moment.zero
    private var interval = interval
    /// The runs that did nothing since something has occurred.
    private var idleRuns = 0

    /// A run was made, which took some time.
    ///
    /// - Parameter isIdle: Whether the run did nothing.
    mutating func note(at now: Moment, duration: Duration, isIdle: Bool = false) {
        if !isIdle {
            reset(at: now)
        } else if idleRuns < Self.mostIdle {
            idleRuns += 1
        } else {
            interval = min(interval * 2, Self.longestInterval)
        }
        end = max(end, now) + max(interval, duration * Self.cost)
    }

    /// Something has occurred: runs may do something again, and do not wait for the end of a longer interval.
    mutating func reset(at now: Moment) {
        if interval > Self.interval { end = min(end, now + Self.burst) }
        (interval, idleRuns) = (Self.interval, 0)
    }

    func permits(at now: Moment) -> Bool { end <= now + Self.burst }

    func wait(at now: Moment) -> Duration { end - (now + Self.burst) }
}
