internal import TLCP

/// What it means that a timer fired.
extension SessionMachine {
    mutating func expired(_ purpose: TimerID.Purpose, at tick: Tick) {
        switch purpose {
        case .transport: fail(.timeout, reason: "no answer in time", at: tick)
        case .idle: fail(.timeout, reason: "no answer to a poll in time", at: tick)
        case .liveness: livenessExpired(at: tick)
        case .retry: retryPauseEnded(at: tick)
        case .recovery: recover(at: tick)
        case .polling: poll(at: tick)
        case .control: controlExpired(at: tick)
        case .heartbeat: heartbeatExpired(at: tick)
        }
    }

    private mutating func livenessExpired(at tick: Tick) {
        let verdict = liveness.timerFired(
            at: tick.now,
            stalledTimeout: Duration(optionSeconds: options.stalledTimeout),
            reconnectTimeout: Duration(optionSeconds: options.reconnectTimeout)
        )
        switch verdict {
        case .wait(let delay):
            startTimer(.liveness, after: delay)
        case .stalled(let delay):
            setStatus(.stalled)
            startTimer(.liveness, after: delay)
        case .lost:
            fail(.timeout, reason: "the connection is stalled", at: tick)
        case nil:
            break
        }
    }

    private mutating func retryPauseEnded(at tick: Tick) {
        guard let pause = state.pause else { return recover(at: tick) }
        if pause.isRetryDelay { backoff.increase() }
        endPause(pause, at: tick)
    }

    private mutating func endPause(_ pause: RetryPause, at tick: Tick) {
        if pause.isNextUnlimited { create(.unlimited, at: tick) } else { beginCreation(at: tick) }
    }

    /// Waiting makes no sense any more when the network is back.
    mutating func networkReturned(at tick: Tick) {
        if let pause = state.pause, pause.isRetryDelay {
            stopTimer(.retry)
            endPause(pause, at: tick)
        } else if state.recovery?.step == .pause {
            stopTimer(.retry)
            recover(at: tick)
        }
    }

    // MARK: - Heartbeats

    private var heartbeatInterval: Duration? {
        heartbeat.interval(option: Duration(optionSeconds: options.reverseHeartbeatInterval))
    }

    /// Something was sent to the server, or heartbeats begin: the next one is due an interval from now.
    mutating func restartHeartbeat() {
        if let interval = heartbeatInterval {
            startTimer(.heartbeat, after: interval)
        } else {
            stopTimer(.heartbeat)
        }
    }

    /// The option changed: a running timer goes on as it is, unless heartbeats are switched off.
    mutating func heartbeatOptionChanged() {
        if heartbeatInterval == nil || !timers.isRunning(.heartbeat) { restartHeartbeat() }
    }

    private mutating func heartbeatExpired(at tick: Tick) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket): emit(.send(socket, ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage))
        case .http: control.heartbeatDue()
        }
        restartHeartbeat()
    }
}
