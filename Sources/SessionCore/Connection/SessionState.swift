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

extension SessionState {
    /// The WebSocket that was being opened is open. Nil: none was.
    mutating func socketOpened() -> Bool {
        switch consume self {
        case .creating(var creation) where creation.step == .opening:
            creation.step = .greeting
            self = .creating(creation)
            return true
        case .bound(var binding) where binding.step == .opening:
            binding.step = .greeting
            self = .bound(binding)
            return true
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .bound(let binding):
            self = .bound(binding)
            return false
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// `WSOK` arrived. False: it was not waited for.
    mutating func greeted() -> Bool {
        switch consume self {
        case .creating(var creation):
            let isDue = creation.step == .greeting
            if isDue { creation.step = .asked }
            self = .creating(creation)
            return isDue
        case .bound(var binding):
            let isDue = binding.step == .greeting
            if isDue { binding.step = .asked }
            self = .bound(binding)
            return isDue
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// The binding goes on to another step, on this connection. False: there is no binding.
    mutating func bindingMoved(to step: SessionBinding.Step, on connection: ConnectionID?) -> Bool {
        switch consume self {
        case .bound(var binding):
            binding.step = step
            binding.connection = connection
            self = .bound(binding)
            return true
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .recovering(let recovery):
            self = .recovering(recovery)
            return false
        }
    }

    /// The recovery goes on to another step. False: there is no recovery.
    mutating func recoveryMoved(to step: Recovery.Step) -> Bool {
        switch consume self {
        case .recovering(var recovery):
            recovery.step = step
            self = .recovering(recovery)
            return true
        case .idle:
            self = .idle
            return false
        case .retrying(let pause):
            self = .retrying(pause)
            return false
        case .creating(let creation):
            self = .creating(creation)
            return false
        case .bound(let binding):
            self = .bound(binding)
            return false
        }
    }
}

/// A creation request on its way.
struct Creation: Equatable {
    /// How the session is created.
    enum Way: Equatable {
        /// On the WebSocket that will carry the stream.
        case webSocket
        /// By an HTTP poll that is answered at once.
        case http
        /// As `http`, after the server said that it is overloaded: it may take its time.
        case unlimited

        /// The first word of `LS_cause`.
        var causePrefix: String {
            switch self {
            case .webSocket: "ws"
            case .http: "http"
            case .unlimited: "ttl"
            }
        }
    }

    /// What is waited for.
    enum Step: Equatable {
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `wsok` and the request were sent on the WebSocket. *Leaves to* `asked` by `WSOK`.
        case greeting
        /// `CONOK` is waited for.
        case asked
    }

    /// How the session is created.
    let way: Way
    /// The connection that carries the request.
    let connection: ConnectionID
    /// The address that it goes to.
    let address: String
    /// Whether a control link will be ignored; as the option stood when the creation began.
    let ignoresControlLink: Bool
    /// What is waited for.
    var step: Step
}

/// How a session is bound, or about to be bound, to a connection.
struct SessionBinding: Equatable {
    /// What is waited for.
    enum Step: Equatable {
        /// `LOOP` on the response of an HTTP creation. *Leaves to* a new binding.
        case preflight(Creation.Way)
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `wsok` was sent on the WebSocket; for streaming the bind went with it. *Leaves to* `asked` by `WSOK`.
        case greeting
        /// `CONOK` of the bind. *Leaves to* `streaming`, `polling` or `pollingForced`.
        case asked
        /// `CONOK` or `LOOP`: the HTTP streaming response is withheld somewhere, and the server was asked to end it.
        /// *Leaves to* `streaming`, and by `LOOP` to a new binding.
        case pollingForced
        /// Lines of a stream, until `LOOP`.
        case streaming
        /// Lines of a poll, until `LOOP`. *Leaves to* `pausing`, or to a new binding.
        case polling
        /// The time of the next poll. *Leaves to* `polling`.
        case pausing
    }

    /// The way in which the session is bound; a preflight counts as HTTP polling.
    let rung: SessionTransport
    /// The connection that carries the bind; nil between two HTTP polls.
    var connection: ConnectionID?
    /// What is waited for.
    var step: Step

    /// Whether the session is bound for good: its status is that of the rung.
    var isEstablished: Bool {
        switch step {
        case .streaming, .polling, .pausing: true
        case .preflight, .opening, .greeting, .asked, .pollingForced: false
        }
    }
}

/// A session that was interrupted.
struct Recovery: Equatable {
    /// What is waited for.
    enum Step: Equatable {
        /// The first pause, of random length. *Leaves to* `asked`.
        case firstPause
        /// A request was sent on this connection. *Leaves to* `pause` when it fails.
        case asked(ConnectionID)
        /// The pause after a failed attempt, which the network's return cuts short. *Leaves to* `asked`.
        case pause
    }

    /// When the session was interrupted.
    let since: Moment
    /// What is waited for.
    var step: Step

    /// The connection of the attempt under way.
    var connection: ConnectionID? {
        switch step {
        case .asked(let connection): connection
        case .firstPause, .pause: nil
        }
    }
}

/// A pause before the next creation.
struct RetryPause: Equatable {
    /// Whether the pause is the retry delay, which grows when it ends and which the network's return cuts short;
    /// otherwise it is the short random one.
    var isRetryDelay: Bool
    /// Whether the next creation is one without a time limit for the server.
    var isNextUnlimited: Bool
}
