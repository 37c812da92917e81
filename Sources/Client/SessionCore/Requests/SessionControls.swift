internal import TLCP

/// The control requests that the session makes for itself, and the negotiations that they belong to.
///
/// A change of transport is asked for as long as its request is open, and not beyond the session.
struct SessionControls {
    private(set) var ledger = RequestLedger()
    private var transportSwitch = TransportSwitch.none
    private var bandwidth = BandwidthNegotiation()
    private var device = DeviceRegistration()

    /// A session is being created, or was adopted, with this bandwidth limit.
    mutating func sessionRequested(_ limit: RequestedMaxBandwidth) { bandwidth.begin(with: limit) }

    mutating func sessionCreated() { if let registration = device.registration { ledger.ask(registration) } }

    /// The connection that carried the requests is gone: unanswered requests, except held ones, are to be sent again.
    mutating func channelLost(except held: Set<RequestID> = []) { ledger.channelLost(except: held) }

    mutating func sessionEnded() {
        transportSwitch = .none
        ledger.sessionEnded()
        device.sessionEnded()
    }

    // MARK: - The transport

    /// Whether a change of transport is under way.
    var isSwitching: Bool { transportSwitch != .none }

    /// The reason for the change of transport under way; nil: none.
    var switchCause: String? { transportSwitch.cause }

    /// Requests a rebind, with this reason.
    mutating func askForSwitch(cause: String?) {
        transportSwitch = .asked(cause: cause)
        ledger.ask(.transportSwitch(cause: cause))
    }

    /// The best transport may have changed. `isWanted`: another one than that in use is better.
    mutating func considerSwitch(isWanted: Bool, cause: String?) {
        if isWanted {
            if transportSwitch == .none { askForSwitch(cause: cause) }
        } else if ledger.nextPending(.beforeSubscriptions) == .transportSwitch(cause: transportSwitch.cause) {
            dropSwitch()
        }
    }

    /// The transport is chosen anew, so that no rebind is needed.
    mutating func dropSwitch() {
        transportSwitch = .none
        ledger.dropTransportSwitch()
    }

    // MARK: - The bandwidth limit

    /// `requestedMaxBandwidth` has this value.
    mutating func bandwidthOption(is limit: RequestedMaxBandwidth) { bandwidth.option = limit }

    /// Requests another limit if the option differs from the limit requested last.
    mutating func negotiateBandwidth() { if let limit = bandwidth.next() { ledger.ask(.bandwidth(limit)) } }

    /// `CONS`. True: the line answers a request. Where clients cannot request a limit, a pending request is dropped. A line that
    /// arrives while a request is pending, again after an interruption, belongs to the head of the connection.
    mutating func confirmed(_ limit: RealMaxBandwidth) -> Bool {
        let isRequestPending = ledger.hasPendingBandwidth
        if isRequestPending, limit == .unmanaged {
            ledger.dropBandwidth()
            bandwidth.answered(isAccepted: false)
        }
        return bandwidth.confirmed(limit, isRequestPending: isRequestPending)
    }

    // MARK: - The device

    /// The token of the device is known or has changed. `hasSession`: it is registered at once.
    mutating func tokenChanged(_ changed: MPNRegisterRequest, hasSession: Bool) {
        device.tokenChanged(changed)
        if hasSession, let registration = device.registration { ledger.ask(registration) }
    }

    /// A badge reset is requested. Returns the event to deliver; nil: a request is or will be made.
    mutating func badgeResetRequested() -> LegacyEvent? {
        if device.isUnknown { return .badgeReset(deviceId: nil, code: 45, message: "No device is registered") }
        if let request = device.badgeResetRequested() { ledger.ask(request) }
        return nil
    }

    /// `MPNREG` or `MPNZERO`; any other notification is ignored. Returns the events to deliver.
    mutating func received(_ notification: ServerNotification) -> [LegacyEvent] {
        switch notification {
        case .mpnReg(let deviceID, let adapterName):
            let (event, next) = device.registered(DeviceTokenInfo(deviceID: deviceID, adapterName: adapterName))
            if let next { ledger.ask(next) }
            return event.map { [$0] } ?? []
        case .mpnZero(let deviceID):
            device.badgeResetAnswered()
            return [.badgeReset(deviceId: deviceID, code: nil, message: nil)]
        default:
            return []
        }
    }

    // MARK: - Requests and replies

    /// Adds pending requests to a batch; `isAlone`: the first of them. Returns false if the batch is complete.
    mutating func takePending(
        _ position: RequestLedger.Position,
        isAlone: Bool,
        ids: inout RequestIDGenerator,
        into builder: inout BatchBuilder
    ) -> Bool {
        while let purpose = ledger.nextPending(position) {
            let id = ids.next()
            let operation = purpose.operation(onSocket: builder.form == .webSocket)
            guard builder.add(.control(ControlRequest(requestID: id, operation: operation))) else { return false }
            ledger.sent(purpose, as: id)
            if isAlone { return false }
        }
        return true
    }

    /// Refuses the next pending request. Returns the events to deliver; nil: there is no such request.
    mutating func refuseNext(_ position: RequestLedger.Position, code: Int, message: String) -> [LegacyEvent]? {
        guard let purpose = ledger.nextPending(position) else { return nil }
        ledger.remove(purpose)
        return answered(purpose, .refused(code: code, message: message))
    }

    /// A reply arrived. Returns the events to deliver; nil: the reply belongs to none of these requests, or to an outdated
    /// copy.
    mutating func requestAnswered(_ id: RequestID, _ answer: RequestAnswer) -> [LegacyEvent]? {
        guard let purpose = ledger.answered(id) else { return nil }
        return answered(purpose, answer)
    }

    private mutating func answered(_ purpose: RequestLedger.Purpose, _ answer: RequestAnswer) -> [LegacyEvent] {
        switch (purpose, answer) {
        case (.transportSwitch, _):
            transportSwitch.answered(isAccepted: answer == .accepted)
        case (.bandwidth, _):
            bandwidth.answered(isAccepted: answer == .accepted)
            negotiateBandwidth()
        case (.deviceRegistration, .refused(let code, let message)):
            return device.refused(code: code, message: message)
        case (.badgeReset, .refused(let code, let message)):
            device.badgeResetAnswered()
            return [.badgeReset(deviceId: nil, code: code, message: message)]
        case (.deviceRegistration, .accepted), (.badgeReset, .accepted):
            break
        }
        return []
    }
}

extension RequestLedger.Purpose {
    fileprivate func operation(onSocket: Bool) -> ControlOperation {
        switch self {
        case .transportSwitch(let cause): .forceRebind(ForceRebindRequest(closesSocket: onSocket, cause: cause))
        case .bandwidth(let limit): .constrain(ConstrainRequest(maxBandwidth: limit))
        case .deviceRegistration(let device): .mpnRegister(device)
        case .badgeReset(let deviceID): .mpnResetBadge(MPNResetBadgeRequest(deviceID: deviceID))
        }
    }
}
