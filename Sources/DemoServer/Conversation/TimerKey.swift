/// Everything that can become due.
enum TimerKey: Sendable, Hashable {
    /// Some feed changes by itself.
    case feeds
    /// Something of a session.
    case session(SessionHandle, SessionTimer)
    /// A stalled connection may write again.
    case stall(LinkID)
    /// A WebSocket may have been silent for too long.
    case idle(LinkID)
    /// A connection has taken nothing for too long.
    case stuck(LinkID)
    /// An answer that is late on purpose.
    case lateAnswer(Int)
    /// A closed session need not be remembered any more.
    case tombstone(SessionHandle)
}
