internal import TLCP

/// Connections that break or stay silent, refusals, and what follows from them.
extension SessionMachine {
    mutating func connectionClosed(_ connection: ConnectionID, _ closure: TransportClosure, at tick: Tick) {
        let isStream = state.connection == connection
        _ = connections.ended(connection)
        guard isStream || control.connection == connection else { return }
        switch closure {
        case .completed:
            if isStream {
                fail(.broken, reason: "the connection ended", at: tick)
            } else {
                controlEnded(isComplete: true, at: tick)
            }
        case .failed(let reason):
            if isStream {
                fail(.broken, reason: reason, at: tick)
            } else {
                controlEnded(isComplete: false, at: tick)
            }
        case .identityRejected:
            fail(code: 62, message: "Unrecognized server's identity", at: tick)
        case .badData(let reason):
            badData(reason, at: tick)
        }
    }

    /// The session's connection failed: what follows depends on what it was needed for.
    mutating func fail(_ failure: ConnectionFailure, reason: String, at tick: Tick) {
        guard let failureOutcome = state.failureOutcome(from: failure) else { return }
        close(state.connection(toGiveUpAfter: failureOutcome))
        switch failureOutcome {
        case .createOverHTTP:
            ladder.suspendWebSocket()
            cause = "ws.unavailable"
            create(.http, at: tick)
        case .creationFailed(let cause):
            if failure == .timeout { noteUnansweredRequest() }
            tellLegacy(.connectionFailed(reason: reason))
            failCreation(cause: cause, isNextUnlimited: state.creation?.way == .unlimited, at: tick)
        case .bindOtherwise:
            ladder.disableWebSocket()
            stopTimer(.transport)
            cause = "ws.unavailable"
            bindInBestWay(at: tick)
        case .streamWithheld:
            forcePolling(at: tick)
        case .interrupted(let cause, let wait):
            interrupt(cause: cause, wait: wait, reason: reason, at: tick)
        case .interruptedWithoutWebSocket:
            ladder.disableWebSocket()
            interrupt(cause: "ws.unavailable", wait: .retryDelay, reason: reason, at: tick)
        case .recoveryFailed:
            if failure == .timeout { noteUnansweredRequest() }
            recoveryFailed(reason: reason, at: tick)
        }
    }

    /// An HTTP streaming response is withheld somewhere: the server is asked to end it, and never to stream again.
    private mutating func forcePolling(at tick: Tick) {
        ladder.disableHTTPStreaming()
        _ = state.bindingMoved(to: .pollingForced, on: state.connection)
        askForSwitch(cause: "http.streaming.unavailable")
        sendPendingRequests(at: tick)
        startTimer(.transport, after: responseTime)
    }

    private mutating func noteUnansweredRequest() {
        responseTimeout.expired()
        noteResponseTimeout()
    }

    /// The creation under way failed; another one follows after the retry delay.
    private mutating func failCreation(cause: String, isNextUnlimited: Bool, at tick: Tick) {
        close(state.connection)
        self.cause = cause
        endSession(status: .disconnectedWillRetry)
        pause(isRetryDelay: true, isNextUnlimited: isNextUnlimited, at: tick)
    }

    /// The session is interrupted: it is recovered, unless the user wants no recovery.
    private mutating func interrupt(cause: String, wait: RetryWait, reason: String, at tick: Tick) {
        tellLegacy(.connectionFailed(reason: reason))
        guard options.sessionRecoveryTimeout > 0 else { return loseSession(cause: cause, wait: wait, at: tick) }
        leaveStream()
        leaveControlRoute()
        transportSwitch = .none
        requests.dropTransportSwitch()
        self.cause = cause
        state = .recovering(Recovery(since: tick.now, step: .firstPause))
        setStatus(.disconnectedTryingRecovery)
        startTimer(.recovery, after: firstRetryDelay(tick))
    }

    /// The session is lost; a new one follows after a pause.
    mutating func loseSession(cause: String, wait: RetryWait, at tick: Tick) {
        close(state.connection)
        self.cause = cause
        endSession(status: .disconnectedWillRetry)
        pause(isRetryDelay: wait == .retryDelay, isNextUnlimited: false, at: tick)
    }

    private mutating func pause(isRetryDelay: Bool, isNextUnlimited: Bool, at tick: Tick) {
        state = .retrying(RetryPause(isRetryDelay: isRetryDelay, isNextUnlimited: isNextUnlimited))
        let delay = isRetryDelay ? backoff.delay.remaining(after: tick.now - lastEffort) : firstRetryDelay(tick)
        startTimer(.retry, after: delay)
    }

    func firstRetryDelay(_ tick: Tick) -> Duration {
        Duration(optionSeconds: options.firstRetryMaxDelay).randomShare(random: tick.random)
    }

    // MARK: - Refusals

    /// `CONERR`.
    mutating func refused(code: Int, message: String, _ refusal: Refusal, at tick: Tick) {
        switch refusal {
        case .ignored:
            break
        case .creationFailed(let cause):
            tellLegacy(.serverFailed(code: code, message: message))
            failCreation(cause: cause, isNextUnlimited: false, at: tick)
        case .serverOverloaded(let cause):
            tellLegacy(.serverFailed(code: code, message: message))
            overloaded(cause: cause, at: tick)
        case .versionRefused:
            versionRefused(code: code, message: message, at: tick)
        case .sessionLost(let cause, let wait):
            tellLegacy(.serverFailed(code: code, message: message))
            loseSession(cause: cause, wait: wait, at: tick)
        case .final:
            fail(code: code, message: message, legacy: .serverFailed(code: code, message: message), at: tick)
        }
    }

    private mutating func overloaded(cause: String, at tick: Tick) {
        guard let creation = state.creation else { return }
        if creation.way == .unlimited { return failCreation(cause: cause, isNextUnlimited: true, at: tick) }
        responseTimeout.serverOverloaded()
        noteResponseTimeout()
        close(creation.connection)
        self.cause = cause
        endSession(status: .disconnectedWillRetry)
        create(.unlimited, at: tick)
    }

    private mutating func versionRefused(code: Int, message: String, at tick: Tick) {
        guard version.refused() else {
            return fail(code: code, message: message, legacy: .serverFailed(code: code, message: message), at: tick)
        }
        if let creation = state.creation {
            close(creation.connection)
            stopTimer(.transport)
            cause = "\(creation.way.causePrefix).conerr.\(code)"
            beginCreation(at: tick)
        } else {
            loseSession(cause: "http.conerr.\(code)", wait: .retryDelay, at: tick)
        }
    }

    /// `END`.
    mutating func sessionClosed(code: Int, message: String, at tick: Tick) {
        switch state.closure(code: code) {
        case .sessionLost(let cause, let wait):
            loseSession(cause: cause, wait: wait, at: tick)
        case .final:
            fail(
                code: SessionState.reportedCode(end: code),
                message: message,
                legacy: .ended(cause: code),
                at: tick
            )
        case .ignored, .creationFailed, .serverOverloaded, .versionRefused:
            break
        }
    }

    /// Data that make no sense: the session cannot go on.
    mutating func badData(_ reason: String, at tick: Tick) {
        emit(.note(.badLine(reason: reason)))
        destroySessionOnSocket()
        fail(code: 61, message: reason, legacy: .badData(reason: reason), at: tick)
    }
}

/// The recovery of an interrupted session, always by an HTTP poll that tells how far the data came.
extension SessionMachine {
    mutating func recover(at tick: Tick) {
        guard state.recovery != nil, let session else { return }
        lastEffort = tick.now
        let request = http(recoveryRequest(session: session))
        self.session?.cursor.recoveryRequested()
        let connection = openRequest(.httpPoll, at: session.address, request)
        startTimer(.transport, after: responseTime)
        _ = state.recoveryMoved(to: .asked(connection))
    }

    /// An attempt failed: there is another one as long as it can begin in time.
    mutating func recoveryFailed(reason: String, at tick: Tick) {
        guard let recovery = state.recovery else { return }
        stopTimer(.transport)
        tellLegacy(.connectionFailed(reason: reason))
        let pause = retryDelay.remaining(after: tick.now - lastEffort)
        let deadline = recovery.since + Duration(optionSeconds: options.sessionRecoveryTimeout)
        guard tick.now + pause < deadline else {
            return loseSession(cause: "recovery.timeout", wait: .firstRetry, at: tick)
        }
        cause = "recovery.error"
        _ = state.recoveryMoved(to: .pause)
        startTimer(.retry, after: pause)
    }
}
