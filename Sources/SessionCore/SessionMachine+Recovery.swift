internal import TLCP

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
