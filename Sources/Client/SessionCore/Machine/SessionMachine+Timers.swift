internal import TLCP

/// Handles timers.
extension SessionMachine {
    mutating func expired(_ purpose: SessionTimer.Purpose, at context: EventContext) {
        switch purpose {
        case .transport: connectionFailed(.timeout, reason: "no answer in time", at: context)
        case .idle: connectionFailed(.timeout, reason: "no answer to a poll in time", at: context)
        case .liveness: livenessExpired(at: context)
        case .retry: retryPauseEnded(at: context)
        case .recovery: recoveryPauseEnded(at: context)
        case .recoveryDeadline: recoveryDeadlinePassed(at: context)
        case .polling: bindPauseEnded(at: context)
        case .control: controlExpired(at: context)
        case .heartbeat: heartbeatExpired(at: context)
        }
    }

    private mutating func livenessExpired(at context: EventContext) {
        let result = liveness.timerFired(
            at: context.now,
            stalledTimeout: Duration(optionSeconds: options.values.stalledTimeout),
            reconnectTimeout: Duration(optionSeconds: options.values.reconnectTimeout)
        )
        switch result {
        case .wait(let delay):
            out.startTimer(.liveness, after: delay)
        case .stalled(let delay):
            out.setStatus(.stalled)
            out.startTimer(.liveness, after: delay)
        case .lost:
            connectionFailed(.timeout, reason: "the connection is stalled", at: context)
        case nil:
            break
        }
    }

    private mutating func retryPauseEnded(at context: EventContext) {
        guard let pause = state.pause else { return recoveryPauseEnded(at: context) }
        pace.pauseEnded()
        endPause(pause, at: context)
    }

    private mutating func recoveryPauseEnded(at context: EventContext) {
        pace.pauseEnded()
        recover(at: context)
    }

    mutating func endPause(_ pause: RetryPause, at context: EventContext) {
        if pause.isNextUnlimited { create(.unlimited, at: context) } else { beginCreation(at: context) }
    }
}
