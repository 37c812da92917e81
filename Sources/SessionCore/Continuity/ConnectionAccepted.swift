internal import TLCP

/// What a `CONOK` says.
struct ConnectionAccepted {
    var sessionID: SessionID
    var requestLimit: Int
    /// The granted keepalive interval, or on a poll the granted idle time.
    var keepalive: Duration
    var controlLink: String?
}
