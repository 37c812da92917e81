internal import TLCP

/// The end of a session and of all connection attempts, with what each resets.
extension SessionMachine {
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
        leaveControlRoute()
        out.setStatus(status)
        for event in events { out.notify(event) }
        for change in ServerProperties.atSessionEnd { out.setProperty(change) }
        session = nil
        ladder.sessionEnded(wasStable: pace.wasSessionStable)
        pace.sessionEnded()
        requests.sessionEnded(&out)
    }

    /// Sends `destroy` on a WebSocket. Over HTTP the server detects the closed connection.
    mutating func destroySessionOnSocket() {
        guard case .socket(let socket) = state.controlRoute else { return }
        out.emit(.send(socket, requests.destroyRequest().webSocketMessage))
    }
}
