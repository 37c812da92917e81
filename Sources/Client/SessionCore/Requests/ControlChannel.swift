/// The HTTP requests beside the stream: one at a time, with a pause after a failed one.
struct ControlChannel {
    private enum State: Equatable {
        /// Nothing is under way. *Leaves to* `busy`.
        case idle
        /// A request waits for its response; `answers` counts the replies so far. *Leaves to* `idle` when the response
        /// is complete, to `pausing` when it failed or held no reply.
        case busy(ConnectionID, since: Moment, answers: Int, isHeartbeat: Bool)
        /// A request failed; the next one waits until the retry delay since its start is over. *Leaves to* `idle`.
        case pausing
    }

    private var state = State.idle
    /// A heartbeat fell due while a request was under way.
    private(set) var isHeartbeatDue = false

    /// Whether a request can be sent.
    var isIdle: Bool { state == .idle }

    /// The connection of the request under way.
    var connection: ConnectionID? {
        switch state {
        case .busy(let connection, _, _, _): connection
        case .idle, .pausing: nil
        }
    }

    /// A request was sent.
    mutating func sent(on connection: ConnectionID, isHeartbeat: Bool, at now: Moment) {
        isHeartbeatDue = false
        state = .busy(connection, since: now, answers: 0, isHeartbeat: isHeartbeat)
    }

    /// A heartbeat fell due.
    mutating func heartbeatDue() { isHeartbeatDue = true }

    /// A reply arrived.
    mutating func answerReceived() {
        switch state {
        case .busy(let connection, let since, let answers, let isHeartbeat):
            state = .busy(connection, since: since, answers: answers + 1, isHeartbeat: isHeartbeat)
        case .idle, .pausing: break
        }
    }

    /// The request under way ended. Returns the pause before the next one; nil: no pause.
    mutating func ended(isComplete: Bool, retryDelay: Duration, at now: Moment) -> Duration? {
        switch state {
        case .busy(_, _, let answers, let isHeartbeat) where isComplete && (answers > 0 || isHeartbeat):
            state = .idle
            return nil
        case .busy(_, let since, _, _):
            state = .pausing
            return retryDelay.remaining(after: now - since)
        case .idle, .pausing:
            return nil
        }
    }

    /// The pause is over.
    mutating func pauseEnded() { if state == .pausing { state = .idle } }

    /// Control requests no longer go over HTTP. Returns the connection to close.
    mutating func left() -> ConnectionID? {
        let connection = connection
        self = ControlChannel()
        return connection
    }
}
