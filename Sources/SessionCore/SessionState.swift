/// Where a client stands between `connect()` and `disconnect()`.
enum SessionState: ~Copyable {
    /// Status `DISCONNECTED`. *Entered* at the start, by `disconnect()` and by what no retry can help; *leaves to*
    /// `creating` by `connect()`.
    case idle
    /// Status `WILL-RETRY`: there is no session, and the next creation waits for its time. *Entered* when a creation
    /// failed or a session was lost; *leaves to* `creating` when the timer fires or the network comes back.
    case retrying(RetryPause)
    /// Status `CONNECTING`: a creation request is on its way. *Entered* from `idle` and `retrying`; *leaves to* `bound`
    /// by `CONOK`, to `retrying` when it fails.
    case creating(Creation)
    /// A session exists, and is bound to a connection or about to be. *Entered* by the `CONOK` of a creation and by the
    /// `LOOP` of a recovery; *leaves to* `recovering` when a connection breaks, to `retrying` when the session is lost.
    case bound(SessionBinding)
    /// Status `TRYING-RECOVERY`: a session exists, its connection is lost. *Entered* from `bound`; *leaves to* `bound`
    /// by `LOOP`, to `retrying` when time is up or the server no longer knows the session.
    case recovering(Recovery)

    /// The connection whose lines speak of the session, if there is one.
    var connection: ConnectionID? {
        switch self {
        case .idle: nil
        case .retrying: nil
        case .creating(let creation): creation.connection
        case .bound(let binding): binding.connection
        case .recovering(let recovery): recovery.connection
        }
    }

    /// Whether nothing is under way.
    var isIdle: Bool {
        switch self {
        case .idle: true
        default: false
        }
    }

    /// The pause before the next creation.
    var pause: RetryPause? {
        switch self {
        case .retrying(let pause): pause
        default: nil
        }
    }

    /// The creation under way.
    var creation: Creation? {
        switch self {
        case .creating(let creation): creation
        default: nil
        }
    }

    /// The binding of the session.
    var binding: SessionBinding? {
        switch self {
        case .bound(let binding): binding
        default: nil
        }
    }

    /// The recovery under way.
    var recovery: Recovery? {
        switch self {
        case .recovering(let recovery): recovery
        default: nil
        }
    }
}
