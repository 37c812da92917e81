extension SessionState {
    /// What the failure of the present connection means; nil: nothing, for none is waited for.
    func setback(from failure: ConnectionFailure) -> Setback? {
        switch self {
        case .idle: nil
        case .retrying: nil
        case .creating(let creation): creation.setback(from: failure)
        case .bound(let bond): bond.setback(from: failure)
        case .recovering(let recovery): recovery.connection == nil ? nil : .recoveryFailed
        }
    }
}

extension SessionState {
    /// The connection that a setback makes useless.
    func connection(toGiveUpAfter setback: Setback) -> ConnectionID? {
        setback == .streamWithheld ? nil : connection
    }
}

extension Creation {
    fileprivate func setback(from failure: ConnectionFailure) -> Setback {
        switch step {
        case .opening, .greeting: .createOverHTTP
        case .asked: .creationFailed(cause: failure.cause(way.causePrefix))
        }
    }
}

extension Bond {
    fileprivate func setback(from failure: ConnectionFailure) -> Setback? {
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
