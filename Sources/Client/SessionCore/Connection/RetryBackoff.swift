/// The pause between creation attempts: constant at first, then doubled at each attempt, up to a minute.
struct RetryBackoff {
    private static let ceiling = Duration.seconds(60)
    private static let constantAttempts = 10

    /// The pause in force, counted from the start of the failed attempt.
    private(set) var delay: Duration
    private var attempt = 1

    init(delay: Duration) { self.delay = delay }

    /// A creation succeeded, or `connect()` was called.
    mutating func reset(to delay: Duration) {
        self.delay = delay
        attempt = 1
    }

    /// A pause of this length is over. A delay above the ceiling stays as it is.
    mutating func increase() {
        if attempt <= Self.constantAttempts {
            attempt += 1
        } else if delay < Self.ceiling {
            delay = min(Self.ceiling, delay * 2)
        }
    }
}

/// How long to wait before the next creation.
enum RetryWait: Equatable {
    /// The retry delay, counted from the start of the last effort.
    case retryDelay
    /// A short random time: a session that worked was lost.
    case firstRetry
}
