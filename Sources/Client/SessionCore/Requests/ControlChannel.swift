internal import TLCP

/// The HTTP requests beside the stream: one at a time, with a pause after a failed one.
struct ControlChannel {
    private struct Exchange: Equatable {
        let connection: ConnectionID
        let since: Moment
        /// The numbers of the requests in its body.
        let ids: Range<Int>
        let isHeartbeat: Bool
        /// Whether there was a reply, and whether one of them names a request of the body.
        var isAnswered = false
        var isAnsweredByName = false
    }

    private enum State: Equatable {
        /// Nothing is under way. *Leaves to* `busy`.
        case idle
        /// A request waits for its response. *Leaves to* `idle` when the response is complete, to `pausing` when it failed
        /// or held no reply.
        case busy(Exchange)
        /// A request failed; the next one waits until the retry delay since its start is over. *Leaves to* `idle`.
        case pausing
    }

    private var state = State.idle
    /// Whether the last response had replies to other requests only. Requests without a reply are then sent again at once; after
    /// the next such response, when a pause is over.
    private var isMisanswered = false
    /// How many requests have failed since the last one with a reply.
    private(set) var failures = 0
    /// A heartbeat fell due while a request was under way.
    private(set) var isHeartbeatDue = false

    var isIdle: Bool { state == .idle }

    /// The connection of the request under way.
    var connection: ConnectionID? {
        switch state {
        case .busy(let exchange): exchange.connection
        case .idle, .pausing: nil
        }
    }

    /// Requests with these numbers were sent; none with a heartbeat.
    mutating func sent(on connection: ConnectionID, ids: Range<Int>, isHeartbeat: Bool, at now: Moment) {
        isHeartbeatDue = false
        state = .busy(Exchange(connection: connection, since: now, ids: ids, isHeartbeat: isHeartbeat))
    }

    mutating func heartbeatDue() { isHeartbeatDue = true }

    /// A reply arrived; nil: it names no request.
    mutating func answerReceived(to id: RequestID?) {
        switch state {
        case .busy(var exchange):
            exchange.isAnswered = true
            if let number = id.flatMap({ Int($0.rawValue) }), exchange.ids.contains(number) {
                exchange.isAnsweredByName = true
            }
            state = .busy(exchange)
        case .idle, .pausing: break
        }
    }

    /// The request under way ended. Returns the pause before the next one; nil: no pause.
    mutating func ended(isComplete: Bool, retryDelay: Duration, at now: Moment) -> Duration? {
        switch state {
        case .busy(let exchange):
            let wasMisanswered = isMisanswered
            isMisanswered = isComplete && exchange.isAnswered && !exchange.isAnsweredByName && !exchange.isHeartbeat
            let isRepeated = wasMisanswered && isMisanswered
            if isComplete, exchange.isHeartbeat || (exchange.isAnswered && !isRepeated) {
                state = .idle
                failures = 0
                return nil
            }
            state = .pausing
            failures += 1
            return retryDelay.remaining(after: now - exchange.since)
        case .idle, .pausing: return nil
        }
    }

    mutating func pauseEnded() { if state == .pausing { state = .idle } }

    /// Control requests no longer go over HTTP. Returns the connection to close.
    mutating func left() -> ConnectionID? {
        let connection = connection
        self = ControlChannel()
        return connection
    }
}
