internal import TLCP

/// Failed and silent connections, refusals, recovery, retries, and the end of a session with what it resets.
extension SessionMachine {
    mutating func connectionClosed(_ connection: ConnectionID, _ end: TransportEnd, at context: EventContext) {
        let isStream = state.connection == connection
        out.ended(connection)
        guard isStream || requests.connection == connection else { return }
        switch end {
        case .identityRejected:
            terminate(telling: [.serverError(code: 62, message: "Unrecognized server's identity")], at: context)
        case .completed where !isStream:
            requests.responseEnded(failure: nil, retryDelay: options.retryDelay, at: context.now, &out)
        case .completed: connectionFailed(.broken, reason: "the connection ended", at: context)
        case .failed(let reason, _, _), .refused(let reason, _, _), .unreachable(let reason, _, _):
            if isStream { return connectionFailed(ConnectionFailure(end), reason: reason, at: context) }
            if ConnectionFailure(end) == .refused { requests.postRefused() }
            requests.responseEnded(failure: reason, retryDelay: options.retryDelay, at: context.now, &out)
        }
    }

    /// The session's connection failed; the consequence depends on what it was used for.
    mutating func connectionFailed(_ failure: ConnectionFailure, reason: String, at context: EventContext) {
        guard let failureOutcome = state.failureOutcome(from: failure) else { return }
        out.close(state.connection(toGiveUpAfter: failureOutcome))
        switch failureOutcome {
        case .createOverHTTP:
            ladder.suspendWebSocket()
            opening.cause = "ws.unavailable"
            create(.http, at: context)
        case .creationFailed(let cause):
            if failure == .timeout { out.notify(change: options.requestUnanswered()) }
            out.notifyLegacy(.connectionFailed(reason: reason))
            let isUnlimited = state.creation?.method == .unlimited
            loseSession(cause: cause, wait: .retryDelay, isNextUnlimited: isUnlimited, at: context)
        case .bindOtherwise:
            ladder.disableWebSocket()
            out.stopTimer(.transport)
            bindInBestWay(cause: "ws.unavailable", at: context)
        case .streamWithheld:
            forcePolling(at: context)
        case .streamRefused:
            ladder.streamRefused()
            out.stopTimer(.transport)
            bindInBestWay(cause: "http.streaming.unavailable", at: context)
        case .interruptedWithoutStream(let transport, let cause):
            ladder.streamLost(over: transport, forced: options.values.forcedTransport)
            interrupt(cause: cause, wait: .retryDelay, reason: reason, at: context)
        case .interrupted(let cause, let wait):
            switch failure {
            case .broken: noteCut(wasStable: pace.wasStable(at: context.now))
            // The age of a connection that is silent behind its head proves nothing.
            case .timeout: noteCut(wasStable: pace.isStable)
            case .refused, .unreachable: break
            }
            interrupt(cause: cause, wait: wait, reason: reason, at: context)
        case .interruptedWithoutWebSocket:
            ladder.disableWebSocket()
            interrupt(cause: "ws.unavailable", wait: .retryDelay, reason: reason, at: context)
        case .recoveryFailed:
            if failure == .timeout { out.notify(change: options.requestUnanswered()) }
            recoveryFailed(reason: reason, at: context)
        }
    }

    /// The connection of the session broke, or became silent. A stream, or a poll on a WebSocket, that ends so behind its head
    /// speaks against its transport.
    private mutating func noteCut(wasStable: Bool) {
        guard let binding = state.binding else { return }
        switch binding.step {
        case .streaming where wasStable, .polling where wasStable, .pausing where wasStable:
            ladder.connectionProved(over: binding.transport)
        case .streaming, .polling:
            if binding.transport == .httpPolling { return }
            ladder.connectionCut(over: binding.transport, forced: options.values.forcedTransport)
        case .preflight, .opening, .greeting, .requested, .pollingForced, .pausing: break
        }
    }

    /// An HTTP streaming response is buffered on its way: asks the server to end it, and disables HTTP streaming.
    private mutating func forcePolling(at context: EventContext) {
        ladder.disableHTTPStreaming()
        state.moveBinding(to: .pollingForced, on: state.connection)
        requests.controls.askForSwitch(cause: "http.streaming.unavailable")
        sendPendingRequests(at: context)
        out.startTimer(.transport, after: options.responseTime)
    }

    /// The session is interrupted: it is recovered, unless `sessionRecoveryTimeout` is 0 or has passed since the loss
    /// of the last stable connection.
    private mutating func interrupt(cause: String, wait: RetryWait, reason: String, at context: EventContext) {
        out.notifyLegacy(.connectionFailed(reason: reason))
        guard options.values.sessionRecoveryTimeout > 0 else {
            return loseSession(cause: cause, wait: wait, at: context)
        }
        let recovery = Recovery(since: pace.interrupted(at: context.now))
        let pause = nextPause(.firstRetry, at: context)
        guard recovery.since == context.now || context.now + pause < deadline(of: recovery) else {
            return retry(cause: "recovery.timeout", after: pause)
        }
        leaveStream()
        requests.leaveRoute(&out)
        requests.controls.dropSwitch()
        opening.cause = cause
        state.transition(to: .recovering(recovery))
        out.setStatus(.disconnectedTryingRecovery)
        out.startTimer(.recovery, after: pause)
        startRecoveryDeadline(at: context)
    }

    /// The session is lost, or its creation failed; another creation follows after a pause.
    mutating func loseSession(
        cause: String?,
        wait: RetryWait,
        isNextUnlimited: Bool = false,
        at context: EventContext
    ) {
        retry(cause: cause, after: nextPause(wait, at: context), isNextUnlimited: isNextUnlimited)
    }

    /// Gives up the session or its creation; another creation follows after the pause. Where no transport is admitted any
    /// more, the next session tries all of them.
    private mutating func retry(cause: String?, after pause: Duration, isNextUnlimited: Bool = false) {
        out.close(state.connection)
        opening.cause = cause
        if bestTransport == nil {
            out.emit(.log(.noTransportAdmitted))
            ladder.admitAll()
        }
        endSession(status: .disconnectedWillRetry)
        state.transition(to: .retrying(isNextUnlimited: isNextUnlimited))
        out.startTimer(.retry, after: pause)
    }

    /// The pause between a failure and the next attempt.
    private mutating func nextPause(_ wait: RetryWait, at context: EventContext) -> Duration {
        pace.pause(
            wait,
            at: context.now,
            firstRetryMaxDelay: Duration(optionSeconds: options.values.firstRetryMaxDelay),
            random: context.random
        )
    }

    // MARK: - Refusals

    /// `CONERR`, or `END` with the code to report.
    mutating func refused(
        _ refusal: Refusal,
        code: Int,
        message: String,
        endReportedAs endCode: Int? = nil,
        at context: EventContext
    ) {
        switch refusal {
        case .ignored:
            break
        case .serverOverloaded(let cause):
            out.notifyLegacy(.serverFailed(code: code, message: message, isRetried: true))
            overloaded(cause: cause, at: context)
        case .versionRefused(let cause):
            versionRefused(code: code, message: message, cause: cause, at: context)
        case .sessionLost(let cause, let wait):
            out.notifyLegacy(.serverFailed(code: code, message: message, isRetried: true))
            loseSession(cause: cause, wait: wait, at: context)
        case .final:
            let legacy = endCode == nil ? nil : LegacyEvent.ended(cause: code)
            fail(code: endCode ?? code, message: message, legacy: legacy, at: context)
        }
    }

    private mutating func overloaded(cause: String, at context: EventContext) {
        guard let creation = state.creation else { return }
        if creation.method == .unlimited {
            return loseSession(cause: cause, wait: .retryDelay, isNextUnlimited: true, at: context)
        }
        out.notify(change: options.serverOverloaded())
        out.close(creation.connection)
        opening.cause = cause
        pace.pauseOmitted()
        endSession(status: .disconnectedWillRetry)
        create(.unlimited, at: context)
    }

    private mutating func versionRefused(code: Int, message: String, cause: String, at context: EventContext) {
        guard opening.versionRefused() else { return fail(code: code, message: message, at: context) }
        if let creation = state.creation {
            out.close(creation.connection)
            out.stopTimer(.transport)
            opening.cause = cause
            beginCreation(at: context)
        } else {
            loseSession(cause: cause, wait: .retryDelay, at: context)
        }
    }

    /// Handles data that violate the protocol: reports error 61 and closes the session.
    mutating func badData(_ reason: String, at context: EventContext) {
        out.emit(.log(.badLine(reason: reason)))
        destroySessionOnSocket()
        fail(code: 61, message: reason, legacy: .badData(reason: reason), at: context)
    }

    // MARK: - Recovery

    /// Recovers an interrupted session by an HTTP poll that carries the number of notifications processed.
    mutating func recover(at context: EventContext) {
        guard state.recovery != nil, let session else { return }
        pace.attemptStarted(at: context.now)
        let bind = opening.bind(session.id, ConnectionParameters(.polling()), recoveryFrom: session.cursor.processed)
        self.session?.cursor.recoveryRequested()
        let connection = open(.httpPoll, at: session.address, opening.http(bind))
        out.startTimer(.transport, after: options.responseTime)
        state.moveRecovery(to: connection)
    }

    /// An attempt failed: another one follows if it can begin before the deadline.
    mutating func recoveryFailed(reason: String, at context: EventContext) {
        guard let recovery = state.recovery else { return }
        out.stopTimer(.transport)
        out.notifyLegacy(.connectionFailed(reason: reason))
        let pause = nextPause(.retryDelay, at: context)
        guard context.now + pause < deadline(of: recovery) else {
            return retry(cause: "recovery.timeout", after: pause)
        }
        opening.cause = "recovery.error"
        state.moveRecovery(to: nil)
        out.startTimer(.retry, after: pause)
    }

    private func deadline(of recovery: Recovery) -> Moment {
        recovery.since + Duration(optionSeconds: options.values.sessionRecoveryTimeout)
    }

    /// Starts the timer that limits the recovery under way; nothing without one.
    mutating func startRecoveryDeadline(at context: EventContext) {
        guard let recovery = state.recovery else { return }
        out.startTimer(.recoveryDeadline, after: max(.zero, deadline(of: recovery) - context.now))
    }

    mutating func recoveryDeadlinePassed(at context: EventContext) {
        guard let recovery = state.recovery else { return }
        // During a pause no connection fails: the last one was reported before the pause.
        if recovery.connection != nil {
            out.notifyLegacy(.connectionFailed(reason: "the session was not recovered in time"))
        }
        loseSession(cause: "recovery.timeout", wait: .firstRetry, at: context)
    }

    // MARK: - Ends

    mutating func disconnect(at context: EventContext) {
        guard !state.isIdle else { return }
        destroySessionOnSocket()
        terminate(at: context)
        out.notifyLegacy(.closed)
    }

    /// Reports an error that no retry can fix and disconnects. `legacy` nil: the server has reported it.
    mutating func fail(code: Int, message: String, legacy: LegacyEvent? = nil, at context: EventContext) {
        let event = legacy ?? .serverFailed(code: code, message: message, isRetried: false)
        terminate(telling: [.serverError(code: code, message: message), .legacy(event)], at: context)
    }

    /// Closes all connections and resets everything but subscriptions and the protocol version.
    mutating func terminate(telling events: [SessionEvent] = [], at context: EventContext) {
        out.close(state.connection)
        endSession(status: .disconnected, telling: events)
        state.transition(to: .idle)
        ladder.reset()
        pace.reset(to: options.retryDelay)
        out.notify(change: options.resetResponseTime())
        opening.disconnected()
    }

    /// Ends the session, or the attempt to create one, and emits the events in the order of the class reference.
    mutating func endSession(status: ClientStatus, telling events: [SessionEvent] = []) {
        leaveStream()
        out.stopTimer(.retry)
        out.stopTimer(.recovery)
        out.stopTimer(.recoveryDeadline)
        requests.leaveRoute(&out)
        out.setStatus(status)
        out.notify(events)
        for change in ServerProperties.atSessionEnd { out.setProperty(change) }
        session = nil
        ladder.sessionEnded(wasStable: pace.wasSessionStable)
        pace.sessionEnded()
        requests.sessionEnded(&out)
    }

    /// Sends `destroy` on a WebSocket. Over HTTP the server detects the closed connection.
    mutating func destroySessionOnSocket() {
        guard let socket = state.sessionSocket else { return }
        out.emit(.send(socket, requests.destroyRequest().webSocketMessage))
    }
}
