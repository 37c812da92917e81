/// The connection that a session is bound to, and the terms that were agreed for it.
struct StreamBinding: Sendable {
    /// What a poll is doing.
    enum PollPhase: Sendable, Hashable {
        /// Waits for the first data, up to the granted idle time. *Leaves to* `gathering` or ends.
        case waiting
        /// Has data, and waits a moment for more. *Leaves to* the end.
        case gathering
        /// Writes what there is; `LOOP` follows in the same step.
        case answering
    }

    /// The terms of a poll.
    struct Poll: Sendable, Hashable {
        /// Granted time to wait for data.
        var idle: Duration
        /// Granted pause until the next poll, the argument of `LOOP`.
        var pause: Duration
        /// What it is doing.
        var phase = PollPhase.waiting
    }

    /// The connection.
    let link: LinkID
    /// Whether it is a WebSocket: no content length, no padding.
    let isWebSocket: Bool
    /// Terms of a poll; nil when streaming.
    var poll: Poll?
    /// Greatest silence, ended by `PROBE`; streaming only.
    var keepalive: Duration
    /// Greatest silence of the client; nil if it promised nothing.
    var inactivity: Duration?
    /// Whether `SYNC` is sent.
    var sendsSync: Bool
    /// Size of the body at which `LOOP` comes; nil for no limit.
    var contentLength: Int?
    /// When the session was bound here.
    let boundAt: Duration

    /// Bytes of the body so far.
    var written = 0
    /// Data notifications written here.
    var dataCount = 0
    /// When something was last written.
    var lastWrite: Duration
    /// When the client last sent a request for the session.
    var lastRequest: Duration
    /// Whether the connection closes after `LOOP` or `END`.
    var closesSocket = false

    /// Room kept for the final `LOOP` or `END`.
    static let reserve = 128

    /// Whether a line of data fits before the connection has to end; one always does.
    func hasRoom(for length: Int) -> Bool {
        guard let contentLength, dataCount > 0 else { return true }
        return written + length + StreamBinding.reserve <= contentLength
    }

    /// Whether data may be committed now.
    var takesData: Bool {
        poll.map { $0.phase == .answering } ?? true
    }
}
