enum DemoSessionTimer: Sendable, Hashable {
    /// Nothing was written for the keepalive interval.
    case keepalive
    /// The next `SYNC`.
    case sync
    /// The client sent no request within its inactivity time.
    case inactivity
    /// The idle time or the gathering time of a poll is over.
    case poll
    /// The frequency of an item or the bandwidth allows the next event.
    case pump
    /// The session was not bound in time.
    case expiry
    /// The waiting time of a message of this sequence is over.
    case skip(sequence: String)
    /// The processing of a delayed message is complete; nil for messages without sequence.
    case work(sequence: String?)
}

/// The timers of the server.
enum TimerKey: Sendable, Hashable {
    /// A feed changes.
    case feeds
    case session(SessionHandle, DemoSessionTimer)
    /// A stalled connection may write again.
    case stall(LinkID)
    /// A WebSocket may have been silent for too long.
    case idle(LinkID)
    /// The peer of a connection has accepted nothing for too long.
    case stuck(LinkID)
    /// A response delayed by a fault is due.
    case lateAnswer(Int)
    /// The data of a closed session can be removed.
    case tombstone(SessionHandle)
}

extension Duration {
    /// A number of seconds, limited to 0 … one year.
    static func boundedSeconds(_ seconds: Double) -> Duration {
        .microseconds(Int64(min(max(seconds, 0), 31_536_000) * 1_000_000))
    }

    /// A number of milliseconds, limited to 0 … one year.
    static func boundedMilliseconds(_ milliseconds: Int) -> Duration {
        .milliseconds(min(max(milliseconds, 0), 31_536_000_000))
    }
}
