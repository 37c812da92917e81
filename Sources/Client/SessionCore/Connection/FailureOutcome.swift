internal import TLCP

/// How a connection failed.
enum ConnectionFailure: Equatable {
    /// The expected data did not arrive in time.
    case timeout
    /// The connection broke, or ended before its last line.
    case broken
    /// The response has an HTTP status that is no success: the server did not process the request.
    case refused
    /// The connection could not be opened.
    case unreachable

    init(_ end: TransportEnd) {
        switch end {
        case .completed, .failed, .identityRejected: self = .broken
        case .refused: self = .refused
        case .unreachable: self = .unreachable
        }
    }

    /// The `LS_cause` of the request that follows.
    fileprivate func cause(_ prefix: String) -> String {
        switch self {
        case .timeout: "\(prefix).timeout"
        case .broken, .refused, .unreachable: "\(prefix).error"
        }
    }
}

/// The consequence of a failure of the session's connection.
enum FailureOutcome: Equatable {
    /// The WebSocket cannot be used: the session is created over HTTP at once.
    case createOverHTTP
    case creationFailed(cause: String)
    /// The WebSocket cannot be used: the session is bound to the next best transport at once.
    case bindOtherwise
    /// An HTTP streaming response is buffered on its way: the server is asked to end it.
    case streamWithheld
    /// An HTTP streaming response was refused: the session is bound to the next best transport at once.
    case streamRefused
    /// The session is interrupted by a bind to a streaming transport that ended before the first line. The session is
    /// recovered, because the server may have sent data.
    case interruptedWithoutStream(SessionTransport, cause: String)
    /// The session is interrupted.
    case interrupted(cause: String, wait: RetryWait)
    /// The session is interrupted on a WebSocket that cannot be used.
    case interruptedWithoutWebSocket
    /// An attempt to recover the session failed.
    case recoveryFailed
}

/// The consequence of a `CONERR` or an `END`.
enum Refusal: Equatable {
    /// The server is overloaded: the next creation sets it no time limit.
    case serverOverloaded(cause: String)
    /// The server does not support this protocol version.
    case versionRefused(cause: String)
    /// The session is lost, or its creation failed; a new one may be tried.
    case sessionLost(cause: String, wait: RetryWait)
    /// Reports an error that no retry can fix and disconnects.
    case final
    /// The notification has no meaning now.
    case ignored
}

extension SessionState {
    /// The consequence of a failure of the present connection; nil: none, as there is no connection.
    func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome? {
        switch self {
        case .idle, .retrying: nil
        case .creating(let creation): creation.failureOutcome(from: failure)
        case .bound(let binding): binding.failureOutcome(from: failure)
        case .recovering(let recovery): recovery.connection == nil ? nil : .recoveryFailed
        }
    }

    /// The connection to close after a failure; nil: none.
    func connection(toGiveUpAfter failureOutcome: FailureOutcome) -> ConnectionID? {
        failureOutcome == .streamWithheld ? nil : connection
    }
}

extension SessionCreation {
    fileprivate func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome {
        switch step {
        case .opening, .greeting: .createOverHTTP
        case .requested: .creationFailed(cause: failure.cause(method.causePrefix))
        }
    }
}

extension SessionBinding {
    fileprivate func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome? {
        switch step {
        case .preflight(let method):
            .interrupted(cause: failure.cause(method.causePrefix), wait: .retryDelay)
        case .opening:
            .bindOtherwise
        case .greeting:
            transport.streams ? .interruptedWithoutWebSocket : .bindOtherwise
        // A server that was not reached proves nothing.
        case .requested where transport.streams && failure == .broken:
            .interruptedWithoutStream(transport, cause: errorCause)
        case .requested where transport == .httpStreaming && failure != .unreachable:
            failure == .timeout ? .streamWithheld : .streamRefused
        case .requested where transport.streams, .pollingForced:
            .interrupted(cause: failure.cause(transport.causePrefix), wait: .retryDelay)
        case .streaming:
            .interrupted(
                cause: failure == .timeout ? "\(transport.causePrefix).stalled" : errorCause,
                wait: .firstRetry
            )
        case .requested, .polling, .pausing:
            .interrupted(
                cause: failure == .timeout ? "\(transport.causePrefix).idle.timeout" : errorCause,
                wait: transport.usesWebSocket ? .firstRetry : .retryDelay
            )
        }
    }

    private var errorCause: String { ConnectionFailure.broken.cause(transport.causePrefix) }
}

extension SessionState {
    /// The meaning of a `CONERR` on the session's connection.
    func refusal(code: Int, message: String) -> Refusal {
        let prefix: String
        switch self {
        case .idle, .retrying: return .ignored
        case .creating(let creation): prefix = creation.method.causePrefix
        case .bound(let binding): prefix = binding.transport.causePrefix
        case .recovering: prefix = "recovery"
        }
        let cause = "\(prefix).conerr.\(code)"
        switch code {
        case 5 where creation != nil: return .serverOverloaded(cause: cause)
        case 4, 6, 20, 40, 41, 48:
            return .sessionLost(cause: cause, wait: recovery == nil ? .retryDelay : .firstRetry)
        // 65 stands for any invalid value; only the message tells that it is the version.
        case 65 where message.lowercased().contains("version"): return .versionRefused(cause: cause)
        default: return .final
        }
    }

    /// The meaning of an `END` on the session's connection: ignored on a creation that was not answered yet.
    func closure(code: Int) -> Refusal {
        let isRetryable = code == 41 || code == 48
        switch self {
        case .idle, .retrying, .creating: return .ignored
        case .bound where !isRetryable, .recovering where !isRetryable: return .final
        case .bound(let binding):
            let isPushing = binding.step == .streaming || binding.step == .polling
            let cause = "\(binding.transport.causePrefix).end.\(code)"
            return .sessionLost(cause: cause, wait: isPushing ? .firstRetry : .retryDelay)
        case .recovering: return .sessionLost(cause: "recovery.end.\(code)", wait: .firstRetry)
        }
    }

    /// The code reported for an `END` after which no retry follows.
    static func reportedCode(end code: Int) -> Int { code <= 0 || (30...39).contains(code) ? code : 39 }
}
