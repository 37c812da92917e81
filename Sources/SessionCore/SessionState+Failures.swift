extension SessionState {
    /// What the failure of the present connection means; nil: nothing, for none is waited for.
    func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome? {
        switch self {
        case .idle: nil
        case .retrying: nil
        case .creating(let creation): creation.failureOutcome(from: failure)
        case .bound(let binding): binding.failureOutcome(from: failure)
        case .recovering(let recovery): recovery.connection == nil ? nil : .recoveryFailed
        }
    }
}

extension SessionState {
    /// The connection that a failureOutcome makes useless.
    func connection(toGiveUpAfter failureOutcome: FailureOutcome) -> ConnectionID? {
        failureOutcome == .streamWithheld ? nil : connection
    }
}

extension Creation {
    fileprivate func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome {
        switch step {
        case .opening, .greeting: .createOverHTTP
        case .asked: .creationFailed(cause: failure.cause(way.causePrefix))
        }
    }
}

extension SessionBinding {
    fileprivate func failureOutcome(from failure: ConnectionFailure) -> FailureOutcome? {
        switch step {
        case .preflight(let way):
            .interrupted(cause: failure.cause(way.causePrefix), wait: .retryDelay)
        case .opening:
            .bindOtherwise
        case .greeting:
            rung.streams ? .interruptedWithoutWebSocket : .bindOtherwise
        case .asked where rung == .httpStreaming && failure == .timeout:
            .streamWithheld
        case .asked where rung.streams, .pollingForced:
            .interrupted(cause: failure.cause(rung.causePrefix), wait: .retryDelay)
        case .streaming:
            .interrupted(cause: failure == .timeout ? "\(rung.causePrefix).stalled" : errorCause, wait: .firstRetry)
        case .asked, .polling, .pausing:
            .interrupted(
                cause: failure == .timeout ? "\(rung.causePrefix).idle.timeout" : errorCause,
                wait: rung.usesWebSocket ? .firstRetry : .retryDelay
            )
        }
    }

    private var errorCause: String { ConnectionFailure.broken.cause(rung.causePrefix) }
}

extension ConnectionFailure {
    fileprivate func cause(_ prefix: String) -> String {
        switch self {
        case .timeout: "\(prefix).timeout"
        case .broken: "\(prefix).error"
        }
    }
}
