internal import TLCP

/// Options set by the user.
extension SessionMachine {
    mutating func apply(_ values: ConnectionOptionValues, at context: EventContext) {
        let old = options.set(values)
        if values.retryDelay != old.retryDelay { pace.delayChanged(to: options.retryDelay) }
        if values.sessionRecoveryTimeout != old.sessionRecoveryTimeout { startRecoveryDeadline(at: context) }
        if values.reverseHeartbeatInterval != old.reverseHeartbeatInterval { heartbeatOptionChanged(at: context) }
        requests.controls.bandwidthOption(is: values.requestedMaxBandwidth)
        guard let session else { return }
        let usesWebSocket = state.binding?.transport.usesWebSocket ?? false
        if values.httpExtraHeaders != old.httpExtraHeaders, usesWebSocket, session.heldHeaders == nil {
            self.session?.heldHeaders = old.httpExtraHeaders ?? [:]
        }
        if values.requestedMaxBandwidth != old.requestedMaxBandwidth { requests.controls.negotiateBandwidth() }
        if values.forcedTransport != old.forcedTransport { considerSwitch() }
        sendPendingRequests(at: context)
    }

    /// Requests a rebind if a better transport than the one in use is available. During a preflight, an opening, a
    /// recovery or a pause between polls nothing is requested: the transport is chosen when it ends.
    mutating func considerSwitch(cause: String? = nil) {
        guard let binding = state.binding, binding.step != .pausing, state.controlRoute != .closed else { return }
        let best = ladder.bestTransport(forced: options.values.forcedTransport)
        requests.controls.considerSwitch(isWanted: best != binding.transport, cause: cause)
    }
}
