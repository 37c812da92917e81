internal import SessionCore

/// The present state of a source, as the `stream` event tells it.
enum SourceState: Sendable, Equatable {
    /// A client's status.
    case client(id: String, status: ClientStatus)
    /// Whether a subscription is active and subscribed.
    case subscription(id: String, isActive: Bool, isSubscribed: Bool)
}

/// What the gateway itself says on a stream. Has no id.
enum ControlEvent: Sendable, Equatable {
    /// Which stream this is and what it carries; with the time to wait before a reconnect, the first time.
    case stream(id: String, sources: [SourceState], resume: ResumeOutcome, retryMilliseconds: Int?)
    /// The stream ends for this reason.
    case closing(reason: String, retryMilliseconds: Int)
    /// Nothing, so that the network does not forget the connection.
    case heartbeat
}
