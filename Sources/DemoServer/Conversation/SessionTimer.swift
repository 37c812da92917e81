/// What can become due in a session.
enum SessionTimer: Sendable, Hashable {
    /// The connection was silent for the keepalive time.
    case keepalive
    /// The next `SYNC`.
    case sync
    /// The client was silent for longer than it promised.
    case inactivity
    /// A poll waited for its idle time, or gathered data for long enough.
    case poll
    /// Some item may send again, or the bandwidth allows more.
    case pump
    /// Nobody bound the session in time.
    case expiry
    /// A message waited long enough for earlier ones of this sequence.
    case skip(sequence: String)
    /// A message that takes its time is done; nil for those without sequence.
    case work(sequence: String?)
}
