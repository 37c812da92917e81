/// How long to wait before the next creation.
enum RetryWait: Equatable {
    /// The retry delay, counted from the start of the last effort.
    case retryDelay
    /// A short random time: a session that worked was lost.
    case firstRetry
}
