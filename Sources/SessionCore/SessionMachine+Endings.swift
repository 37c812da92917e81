internal import TLCP

/// Ends of sessions, with what is reset, and the end of all efforts.
extension SessionMachine {
    mutating func disconnect(at context: EventContext) {
        guard !state.isIdle else { return }
        destroySessionOnSocket()
        terminate(at: context)
        notifyLegacy(.closed)
    }

    /// No retry can help.
    mutating func fail(code: Int, message: String, legacy: LegacyEvent? = nil, at context: EventContext) {
        var events: [SessionEvent] = [.serverError(code: code, message: message)]
        if let legacy { events.append(.legacy(legacy)) }
        terminate(telling: events, at: context)
    }

    /// Closes everything, and forgets all but subscriptions and the protocol version.
    mutating func terminate(telling events: [SessionEvent] = [], at context: EventContext) {
        close(state.connection)
        endSession(status: .disconnected, telling: events)
        state.transition(to: .idle)
        ladder.reset()
        backoff.reset(to: retryDelay)
        responseTimeout.reset()
        noteResponseTimeout()
        cause = nil
        previousSession = nil
    }

    /// The session ended, or the effort to create one: what belonged to it goes, in the order that delegates expect.
    mutating func endSession(status: ClientStatus, telling events: [SessionEvent] = []) {
        leaveStream()
        stopTimer(.retry)
        stopTimer(.recovery)
        leaveControlRoute()
        setStatus(status)
        for event in events { emit(.notify(event)) }
        for change in ServerProperties.atSessionEnd { setProperty(change) }
        session = nil
        transportSwitch = .none
        requests.sessionEnded()
        device.sessionEnded()
        for case .notify(let token, let event) in subscriptions.sessionEnded() {
            emit(.notify(.subscription(token, event)))
        }
        perform(messages.sessionEnded())
    }

    /// Over HTTP the server finds out by itself; on a WebSocket it is told.
    mutating func destroySessionOnSocket() {
        guard case .socket(let socket) = state.controlRoute else { return }
        emit(.send(socket, destroyRequest().webSocketMessage))
    }
}
