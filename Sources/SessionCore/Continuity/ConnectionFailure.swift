/// How a connection disappointed.
enum ConnectionFailure: Equatable {
    /// What was waited for did not come in time.
    case timeout
    /// It broke, or ended before its last line.
    case broken
}
