/// What a `CONERR` or an `END` means.
enum Refusal: Equatable {
    /// The creation failed, but may be tried again.
    case creationFailed(cause: String)
    /// The server is overloaded: the next creation leaves it all the time it wants.
    case serverOverloaded(cause: String)
    /// The server does not speak this version of the protocol.
    case versionRefused
    /// The session is lost; a new one may be tried.
    case sessionLost(cause: String, wait: RetryWait)
    /// No retry can help.
    case final
    /// It has no meaning now.
    case ignored
}
