internal import TLCP

/// The push notification device: its registration in each session, and its badge.
struct DeviceRegistration {
    private enum State: Equatable {
        /// No device. *Leaves to* `wanted`.
        case none
        /// To be registered in this session or the next. `isAnnounced`: the outcome is to be delivered. *Leaves to*
        /// `registered`, by a refusal to `none`.
        case wanted(MPNRegisterRequest, isAnnounced: Bool)
        /// Registered in this session. *Leaves to* `wanted` when the session ends.
        case registered(MPNRegisterRequest, deviceID: String)
    }

    private enum BadgeReset {
        /// None is wanted. *Leaves to* `waiting`, `underWay`.
        case none
        /// Waits for the registration of the device. *Leaves to* `underWay`, by a refusal of the device to `none`.
        case waiting
        /// Requested in this session. *Leaves to* `none` by the answer, to `waiting` when the session ends before.
        case underWay
    }

    private var state = State.none
    private var badge = BadgeReset.none

    /// The registration to request: at once if there is a session, else at the start of the next.
    var registration: RequestLedger.Purpose? {
        guard case .wanted(let device, _) = state else { return nil }
        return .deviceRegistration(device)
    }

    mutating func tokenChanged(_ device: MPNRegisterRequest) {
        var device = device
        if case .registered = state { device.cause = "refresh.token" }
        state = .wanted(device, isAnnounced: true)
    }

    /// A badge reset is requested. Returns the request; nil if it has to wait for the registration of the device.
    mutating func badgeResetRequested() -> RequestLedger.Purpose? {
        guard case .registered(_, let deviceID) = state else {
            badge = .waiting
            return nil
        }
        badge = .underWay
        return .badgeReset(deviceID: deviceID)
    }

    /// The badge was reset, or the reset was refused. A later request that waits for the registration is not answered by this.
    mutating func badgeResetAnswered() { if badge == .underWay { badge = .none } }

    /// Whether no device is known, so that no badge reset can be sent.
    var isUnknown: Bool { state == .none }

    /// `MPNREG`: returns the event to deliver, and the badge reset that waited for it.
    mutating func registered(_ info: DeviceTokenInfo) -> (event: LegacyEvent?, next: RequestLedger.Purpose?) {
        guard case .wanted(var device, let isAnnounced) = state else { return (nil, nil) }
        device.deviceToken = device.newDeviceToken ?? device.deviceToken
        device.newDeviceToken = nil
        device.cause = nil
        state = .registered(device, deviceID: info.deviceID)
        let next = badge == .waiting ? badgeResetRequested() : nil
        return (isAnnounced ? .deviceRegistered(info) : nil, next)
    }

    /// The registration was refused: returns the events to deliver.
    mutating func refused(code: Int, message: String) -> [LegacyEvent] {
        guard case .wanted(_, let isAnnounced) = state else { return [] }
        state = .none
        var events: [LegacyEvent] = []
        if isAnnounced { events.append(.deviceRefused(code: code, message: message)) }
        if badge == .waiting {
            events.append(.badgeReset(deviceId: nil, code: code, message: message))
            badge = .none
        }
        return events
    }

    /// The session ended: the device has to be registered again in the next one, and a badge reset without an answer
    /// requested again.
    mutating func sessionEnded() {
        if badge == .underWay { badge = state == .none ? .none : .waiting }
        guard case .registered(var device, _) = state else { return }
        device.cause = "restore.token"
        state = .wanted(device, isAnnounced: false)
    }
}
