internal import TLCP

/// Failed and silent connections, refusals, recovery and retries.
extension SessionMachine {
    mutating func connectionClosed(_ connection: ConnectionID, _ end: TransportEnd, at context: EventContext) {
        let isStream = state.connection == connection
        _ = connections.ended(connection)
        guard isStream || control.connection == connection else { return }
        switch end {
        case .completed:
            if isStream {
                connectionFailed(.broken, reason: "the connection ended", at: context)
            } else {
                controlEnded(isComplete: true, at: context)
            }
        case .failed(let reason, _):
            if isStream {
                connectionFailed(.broken, reason: reason, at: context)
            } else {
                controlEnded(isComplete: false, at: context)
            }
        case .identityRejected:
            fail(code: 62, message: "Unrecognized server's identity", at: context)
        }
    }

    /// The session's connection failed; the consequence depends on what it was used for.
    mutating func connectionFailed(_ failure: ConnectionFailure, reason: String, at context: EventContext) {
        guard let failureOutcome = state.failureOutcome(from: failure) else { return }
        close(state.connection(toGiveUpAfter: failureOutcome))
        switch failureOutcome {
        case .createOverHTTP:
            ladder.suspendWebSocket()
            cause = "ws.unavailable"
            create(.http, at: context)
        case .creationFailed(let cause):
            if failure == .timeout { noteUnansweredRequest() }
            notifyLegacy(.connectionFailed(reason: reason))
            failCreation(cause: cause, isNextUnlimited: state.creation?.method == .unlimited, at: context)
        case .bindOtherwise:
            ladder.disableWebSocket()
            stopTimer(.transport)
            cause = "ws.unavailable"
            bindInBestWay(at: context)
        case .streamWithheld:
            forcePolling(at: context)
        case .interrupted(let cause, let wait):
            interrupt(cause: cause, wait: wait, reason: reason, at: context)
        case .interruptedWithoutWebSocket:
            ladder.disableWebSocket()
            interrupt(cause: "ws.unavailable", wait: .retryDelay, reason: reason, at: context)
        case .recoveryFailed:
            if failure == .timeout { noteUnansweredRequest() }
            recoveryFailed(reason: reason, at: context)
        }
    }

    /// An HTTP streaming response is buffered on its way: asks the server to end it, and disables HTTP streaming.
    private mutating func forcePolling(at context: EventContext) {
        ladder.disableHTTPStreaming()
        state.moveBinding(to: .pollingForced, on: state.connection)
        askForSwitch(cause: "http.streaming.unavailable")
        sendPendingRequests(at: context)
        startTimer(.transport, after: responseTime)
    }

    private mutating func noteUnansweredRequest() {
        responseTimeout.expired()
        noteResponseTimeout()
    }

    /// The creation under way failed; another one follows after the retry delay.
    private mutating func failCreation(cause: String, isNextUnlimited: Bool, at context: EventContext) {
        close(state.connection)
        self.cause = cause
        guard options.connectTimeout == .auto else { return }
        endSession(status: .disconnectedWillRetry)
        pause(isRetryDelay: true, isNextUnlimited: isNextUnlimited, at: context)
    }

    /// The session is interrupted: it is recovered, unless `sessionRecoveryTimeout` is 0.
    private mutating func interrupt(cause: String, wait: RetryWait, reason: String, at context: EventContext) {
        notifyLegacy(.connectionFailed(reason: reason))
        guard options.sessionRecoveryTimeout > 0 else { return loseSession(cause: cause, wait: wait, at: context) }
        leaveStream()
        leaveControlRoute()
        transportSwitch = .none
        requests.dropTransportSwitch()
        self.cause = cause
        state.transition(to: .recovering(Recovery(since: context.now, step: .firstPause)))
        setStatus(.disconnectedTryingRecovery)
        startTimer(.recovery, after: firstRetryDelay(context))
        startRecoveryDeadline(at: context)
    }

    /// The session is lost; a new one follows after a pause.
    mutating func loseSession(cause: String, wait: RetryWait, at context: EventContext) {
        close(state.connection)
        self.cause = cause
        endSession(status: .disconnectedWillRetry)
        pause(isRetryDelay: wait == .retryDelay, isNextUnlimited: false, at: context)
    }

    private mutating func pause(isRetryDelay: Bool, isNextUnlimited: Bool, at context: EventContext) {
        state.transition(to: .retrying(RetryPause(isRetryDelay: isRetryDelay, isNextUnlimited: isNextUnlimited)))
        let delay = isRetryDelay ? backoff.delay.remaining(after: context.now - lastEffort) : firstRetryDelay(context)
        startTimer(.retry, after: delay)
    }

    func firstRetryDelay(_ context: EventContext) -> Duration {
        Duration(optionSeconds: options.firstRetryMaxDelay).randomShare(random: context.random)
    }

    // MARK: - Refusals

    /// `CONERR`.
    mutating func refused(code: Int, message: String, _ refusal: Refusal, at context: EventContext) {
        switch refusal {
        case .ignored:
            break
        case .creationFailed(let cause):
            notifyLegacy(.serverFailed(code: code, message: message))
            failCreation(cause: cause, isNextUnlimited: false, at: context)
        case .serverOverloaded(let cause):
            notifyLegacy(.serverFailed(code: code, message: message))
            overloaded(cause: cause, at: context)
        case .versionRefused:
            versionRefused(code: code, message: message, at: context)
        case .sessionLost(let cause, let wait):
            notifyLegacy(.serverFailed(code: code, message: message))
            loseSession(cause: cause, wait: wait, at: context)
        case .final:
            fail(code: code, message: message, legacy: .serverFailed(code: code, message: message), at: context)
        }
    }

    private mutating func overloaded(cause: String, at context: EventContext) {
        guard let creation = state.creation else { return }
        if creation.method == .unlimited { return failCreation(cause: cause, isNextUnlimited: true, at: context) }
        if options.connectTimeout == .auto { responseTimeout.serverOverloaded() }
        noteResponseTimeout()
        close(creation.connection)
        self.cause = cause
        endSession(status: .disconnectedWillRetry)
        create(.unlimited, at: context)
    }

    private mutating func versionRefused(code: Int, message: String, at context: EventContext) {
        guard version.refused() else {
            return fail(code: code, message: message, legacy: .serverFailed(code: code, message: message), at: context)
        }
        if let creation = state.creation {
            close(creation.connection)
            stopTimer(.transport)
            cause = "\(creation.method.causePrefix).conerr.\(code)"
            beginCreation(at: context)
        } else {
            loseSession(cause: "http.conerr.\(code)", wait: .retryDelay, at: context)
        }
    }

    /// `END`.
    mutating func sessionClosed(code: Int, message: String, at context: EventContext) {
        switch state.closure(code: code) {
        case .sessionLost(let cause, let wait):
            notifyLegacy(.serverFailed(code: code, message: message))
            loseSession(cause: cause, wait: wait, at: context)
        case .final:
            fail(
                code: SessionState.reportedCode(end: code),
                message: message,
                legacy: .ended(cause: code),
                at: context
            )
        case .ignored, .creationFailed, .serverOverloaded, .versionRefused:
            break
        }
    }

    /// Handles data that violate the protocol: reports error 61 and closes the session.
    mutating func badData(_ reason: String, at context: EventContext) {
        emit(.log(.badLine(reason: reason)))
        destroySessionOnSocket()
        fail(code: 61, message: reason, legacy: .badData(reason: reason), at: context)
    }
}

/// The recovery of an interrupted session: an HTTP poll that carries the number of notifications processed.
extension SessionMachine {
    mutating func recover(at context: EventContext) {
        guard state.recovery != nil, let session else { return }
        lastEffort = context.now
        let request = http(recoveryRequest(session: session))
        self.session?.cursor.recoveryRequested()
        let connection = openRequest(.httpPoll, at: session.address, request)
        startTimer(.transport, after: responseTime)
        state.moveRecovery(to: .requested(connection))
    }

    /// An attempt failed: another one follows if it can begin before the deadline.
    mutating func recoveryFailed(reason: String, at context: EventContext) {
        guard let recovery = state.recovery else { return }
        stopTimer(.transport)
        notifyLegacy(.connectionFailed(reason: reason))
        let pause = retryDelay.remaining(after: context.now - lastEffort)
        guard context.now + pause < deadline(of: recovery) else {
            return loseSession(cause: "recovery.timeout", wait: .firstRetry, at: context)
        }
        cause = "recovery.error"
        state.moveRecovery(to: .pause)
        startTimer(.retry, after: pause)
    }

    private func deadline(of recovery: Recovery) -> Moment {
        recovery.since + Duration(optionSeconds: options.sessionRecoveryTimeout)
    }

    /// Starts the timer that limits the recovery under way; nothing without one.
    mutating func startRecoveryDeadline(at context: EventContext) {
        guard let recovery = state.recovery else { return }
        startTimer(.recoveryDeadline, after: max(.zero, deadline(of: recovery) - context.now))
    }

    mutating func recoveryDeadlinePassed(at context: EventContext) {
        guard state.recovery != nil else { return }
        notifyLegacy(.connectionFailed(reason: "the session was not recovered in time"))
        loseSession(cause: "recovery.timeout", wait: .firstRetry, at: context)
    }
}
