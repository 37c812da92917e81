/// What the failure of the session's connection means.
enum FailureOutcome: Equatable {
    /// The WebSocket cannot be used: the session is created over HTTP at once.
    case createOverHTTP
    /// The creation failed.
    case creationFailed(cause: String)
    /// The WebSocket cannot be used: the session is bound in the next best way at once.
    case bindOtherwise
    /// An HTTP streaming response does not get through: the server is asked to end it.
    case streamWithheld
    /// The session is interrupted.
    case interrupted(cause: String, wait: RetryWait)
    /// The session is interrupted on a WebSocket that cannot be used.
    case interruptedWithoutWebSocket
    /// An attempt to recover the session failed.
    case recoveryFailed
}
