/// The state of a client between `connect()` and `disconnect()`. Only `transition(to:)` and the methods built on it
/// change it.
///
/// ```text
///            connect()              CONOK              connection lost
///   idle ──────────────> creating ─────────> bound ───────────────────> recovering
///                         ^    │               ^ │                          │  │
///                   timer │    │ failure       │ │ session lost             │  │
///                         │    v               │ v          time is up      │  │
///                        retrying <────────────┼─┴──────────────────────────┘  │
///                                              └──────────── LOOP ─────────────┘
/// ```
///
/// Every state also leaves to `idle`: by `disconnect()`, and by an error that no retry can fix. A session that another
/// client has opened is adopted from `idle` in `recovering`.
enum SessionState: Equatable {
    /// Status `DISCONNECTED`. *Leaves to* `creating` by `connect()`.
    case idle
    /// Status `WILL-RETRY`: no session exists, and the next creation waits for a timer. *Entered* when a creation
    /// failed or a session was lost; *leaves to* `creating`, one without a time limit for the server if
    /// `isNextUnlimited`.
    case retrying(isNextUnlimited: Bool)
    /// Status `CONNECTING`: a creation request is under way. *Leaves to* `bound` by `CONOK`, to `retrying` when it
    /// fails, and to another `creating` when it is repeated at once over HTTP or with another protocol version.
    case creating(SessionCreation)
    /// A session exists, and is bound to a connection or about to be. *Entered* by the `CONOK` of a creation and by the
    /// `LOOP` of a recovery; *leaves to* another `bound` by `LOOP`, to `recovering` when its connection breaks, to
    /// `retrying` when the session is lost.
    case bound(SessionBinding)
    /// Status `TRYING-RECOVERY`: a session exists, its connection is lost. *Leaves to* `bound` by `LOOP`, to `retrying`
    /// when time is up or the server no longer knows the session.
    case recovering(Recovery)

    /// Changes the state along one of the legal edges.
    mutating func transition(to next: SessionState) {
        assert(mayBeFollowed(by: next), "illegal transition from \(self) to \(next)")
        self = next
    }

    private func mayBeFollowed(by next: SessionState) -> Bool {
        switch (self, next) {
        case (_, .idle): true
        case (.idle, .creating), (.idle, .recovering), (.retrying, .creating): true
        case (.creating, .creating), (.creating, .bound), (.creating, .retrying): true
        case (.bound, .bound), (.bound, .recovering), (.bound, .retrying): true
        case (.recovering, .recovering), (.recovering, .bound), (.recovering, .retrying): true
        default: false
        }
    }

    /// The WebSocket that was being opened is open. Returns false if none was being opened.
    mutating func socketOpened() -> Bool { advance(from: .opening, .opening, to: .greeting, .greeting) }

    /// `WSOK` arrived. Returns false if it was not expected.
    mutating func greeted() -> Bool { advance(from: .greeting, .greeting, to: .requested, .requested) }

    private mutating func advance(
        from creationStep: SessionCreation.Step,
        _ bindingStep: SessionBinding.Step,
        to nextCreationStep: SessionCreation.Step,
        _ nextBindingStep: SessionBinding.Step
    ) -> Bool {
        switch self {
        case .creating(var creation) where creation.step == creationStep:
            creation.step = nextCreationStep
            transition(to: .creating(creation))
            return true
        case .bound(let binding) where binding.step == bindingStep:
            moveBinding(to: nextBindingStep, on: binding.connection)
            return true
        case .idle, .retrying, .creating, .bound, .recovering:
            return false
        }
    }

    /// Moves the binding to another step, on this connection. Without a binding nothing happens.
    mutating func moveBinding(to step: SessionBinding.Step, on connection: ConnectionID?) {
        guard case .bound(var binding) = self else { return }
        assert(binding.step.mayBeFollowed(by: step), "illegal step from \(binding.step) to \(step)")
        binding.step = step
        binding.connection = connection
        transition(to: .bound(binding))
    }

    /// An attempt to recover the session begins on this connection; nil: a pause does. Without a recovery nothing happens.
    mutating func moveRecovery(to connection: ConnectionID?) {
        guard case .recovering(var recovery) = self else { return }
        recovery.connection = connection
        transition(to: .recovering(recovery))
    }

    /// The connection whose lines belong to the session; nil: none.
    var connection: ConnectionID? {
        switch self {
        case .idle, .retrying: nil
        case .creating(let creation): creation.connection
        case .bound(let binding): binding.connection
        case .recovering(let recovery): recovery.connection
        }
    }

    /// The WebSocket that the session is bound to, or on which its bind was sent; nil: none.
    var sessionSocket: ConnectionID? {
        guard let binding, binding.transport.usesWebSocket else { return nil }
        switch binding.step {
        case .preflight, .opening: return nil
        // The first poll is sent when `WSOK` has been received.
        case .greeting: return binding.transport.streams ? binding.connection : nil
        case .requested, .pollingForced, .streaming, .polling, .pausing: return binding.connection
        }
    }

    var isIdle: Bool { self == .idle }

    /// The creation under way; nil in other states.
    var creation: SessionCreation? { if case .creating(let creation) = self { creation } else { nil } }

    /// The binding of the session; nil in other states.
    var binding: SessionBinding? { if case .bound(let binding) = self { binding } else { nil } }

    /// The recovery under way; nil in other states.
    var recovery: Recovery? { if case .recovering(let recovery) = self { recovery } else { nil } }
}

/// A creation request under way.
struct SessionCreation: Equatable {
    enum Method: Equatable {
        /// On the WebSocket that will carry the stream.
        case webSocket
        /// By an HTTP poll that is answered at once.
        case http
        /// As `http`, after the server reported that it is overloaded: without a time limit for the server.
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

    /// The event that the creation waits for.
    enum Step: Equatable {
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `wsok` and the request were sent on the WebSocket. *Leaves to* `requested` by `WSOK`.
        case greeting
        /// The request was sent; waits for `CONOK`.
        case requested
    }

    let method: Method
    let connection: ConnectionID
    let address: String
    /// Whether a control link will be ignored: the value of the option when the creation began.
    let ignoresControlLink: Bool
    /// The event that the creation waits for.
    var step: Step
}

/// A session bound, or about to be bound, to a connection.
struct SessionBinding: Equatable {
    /// The event that the binding waits for.
    enum Step: Equatable {
        /// `LOOP` on the response of an HTTP creation. *Leaves to* a new binding.
        case preflight(SessionCreation.Method)
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `WSOK`: `wsok` was sent on the WebSocket, for streaming together with the bind. *Leaves to* `requested` by
        /// `WSOK`, to `streaming` or `polling` by `CONOK`.
        case greeting
        /// `CONOK` of the bind. *Leaves to* `streaming`, `polling` or `pollingForced`, to `pausing` by `LOOP`.
        case requested
        /// `CONOK` or `LOOP`: the HTTP streaming response is buffered on its way, and the server was asked to end it.
        /// *Leaves to* `streaming`, and by `LOOP` to a new binding.
        case pollingForced
        /// Lines of a stream, until `LOOP`. *Leaves to* a new binding.
        case streaming
        /// Lines of a poll, until `LOOP`. *Leaves to* `pausing`, or to a new binding.
        case polling
        /// The time of the next poll, or of the next bind of a stream that the server ends at once. *Leaves to*
        /// `requested`, or to a new binding.
        case pausing

        fileprivate func mayBeFollowed(by next: Step) -> Bool {
            switch (self, next) {
            case (.opening, .greeting): true
            case (.greeting, .requested), (.greeting, .streaming), (.greeting, .polling): true
            // The first poll on a WebSocket is sent when `WSOK` has been received.
            case (.requested, .requested): true
            case (.requested, .streaming), (.requested, .polling), (.requested, .pollingForced): true
            case (.requested, .pausing), (.polling, .pausing), (.pausing, .requested): true
            case (.pollingForced, .streaming), (.pollingForced, .polling): true
            default: false
            }
        }
    }

    /// The transport of the session; HTTP polling during a preflight.
    let transport: SessionTransport
    /// The connection that carries the bind; nil between two HTTP polls.
    var connection: ConnectionID?
    /// The event that the binding waits for.
    var step: Step
}

/// A session that was interrupted.
struct Recovery: Equatable {
    /// When the session was interrupted: when its last stable connection was lost.
    let since: Moment
    /// The connection of the attempt under way; nil: a pause before an attempt.
    var connection: ConnectionID?
}

/// Where control and message requests go.
enum ControlRoute: Equatable {
    /// Requests wait.
    case closed
    /// On the WebSocket that carries the stream.
    case socket(ConnectionID)
    /// By HTTP requests of their own.
    case http
}

extension SessionState {
    /// Where control and message requests go now.
    var controlRoute: ControlRoute {
        guard case .bound(let binding) = self else { return .closed }
        switch binding.step {
        case .preflight, .opening, .greeting: return .closed
        case .requested where binding.transport == .webSocketStreaming: return .closed
        case .requested, .pollingForced, .streaming, .polling, .pausing:
            guard binding.transport.usesWebSocket else { return .http }
            guard let connection = binding.connection else { return .closed }
            return .socket(connection)
        }
    }
}
