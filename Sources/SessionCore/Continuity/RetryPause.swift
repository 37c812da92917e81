/// A pause before the next creation.
struct RetryPause: Equatable {
    /// Whether the pause is the retry delay, which grows when it ends and which the network's return cuts short;
    /// otherwise it is the short random one.
    var isRetryDelay: Bool
    /// Whether the next creation is one without a time limit for the server.
    var isNextUnlimited: Bool
}
