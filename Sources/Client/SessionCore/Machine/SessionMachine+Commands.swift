internal import TLCP

/// Options set by the user, bandwidth and transport negotiation, and push notifications.
extension SessionMachine {
    mutating func apply(_ values: ConnectionOptionValues, at context: EventContext) {
        let old = options.set(values)
        if values.retryDelay != old.retryDelay { pace.delayChanged(to: options.retryDelay) }
        if values.sessionRecoveryTimeout != old.sessionRecoveryTimeout { startRecoveryDeadline(at: context) }
        if values.reverseHeartbeatInterval != old.reverseHeartbeatInterval { heartbeatOptionChanged(at: context) }
        guard let session else { return }
        let usesWebSocket = state.binding?.transport.usesWebSocket ?? false
        if values.httpExtraHeaders != old.httpExtraHeaders, usesWebSocket, session.heldHeaders == nil {
            self.session?.heldHeaders = old.httpExtraHeaders ?? [:]
        }
        if values.requestedMaxBandwidth != old.requestedMaxBandwidth { negotiateBandwidth() }
        if values.forcedTransport != old.forcedTransport { considerSwitch() }
        sendPendingRequests(at: context)
    }

    /// Requests another bandwidth limit if the option differs from the limit requested last.
    mutating func negotiateBandwidth() {
        guard session != nil else { return }
        let limit = bandwidth.next(option: options.values.requestedMaxBandwidth, real: out.realMaxBandwidth)
        if let limit { requests.ask(.bandwidth(limit)) }
    }

    /// Requests a rebind if a better transport than the one in use is available. During a preflight, an opening, a
    /// recovery or a pause between polls nothing is requested: the transport is chosen when it ends.
    mutating func considerSwitch(cause: String? = nil) {
        guard let binding = state.binding, binding.step != .pausing, state.controlRoute != .closed else { return }
        if ladder.bestTransport(forced: options.values.forcedTransport) == binding.transport {
            if requests.nextPending(.beforeSubscriptions) == .transportSwitch(cause: transportSwitch.cause) {
                transportSwitch = .none
                requests.dropTransportSwitch()
            }
        } else if transportSwitch == .none {
            askForSwitch(cause: cause)
        }
    }

    mutating func askForSwitch(cause: String?) {
        transportSwitch = .asked(cause: cause)
        requests.ask(.transportSwitch(cause: cause))
    }

    // MARK: - Push notifications

    mutating func register(_ registeredDevice: DeviceRegistration.Device, at context: EventContext) {
        device.tokenChanged(registeredDevice)
        if session != nil, let registration = device.registration { requests.ask(registration) }
        sendPendingRequests(at: context)
    }

    mutating func resetBadge(at context: EventContext) {
        if device.isUnknown {
            out.notifyLegacy(.badgeReset(deviceId: nil, code: 45, message: "No device is registered"))
        } else if let request = device.badgeResetRequested() {
            requests.ask(request)
            sendPendingRequests(at: context)
        }
    }
}
