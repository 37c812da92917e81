/// The pauses between the attempts of `watch` and `record`: doubled with each one, up to half a minute, and random within
/// their upper half, so that the readers of a server do not return together.
struct RetryPause {
    private static let longest = Duration.seconds(30)

    private var next = Duration.seconds(1)

    /// The connection works: the next pause is a short one.
    mutating func reset() { self = RetryPause() }

    /// The pause before the next attempt.
    ///
    /// - Parameter jitter: From 0, for the shortest pause, to 1.
    mutating func take(jitter: Double) -> Duration {
        defer { next = min(next * 2, Self.longest) }
        return next * (0.5 + jitter / 2)
    }

    /// Waits until the next attempt may begin.
    mutating func wait() async throws { try await Task.sleep(for: take(jitter: .random(in: 0...1))) }
}
