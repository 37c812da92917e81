/// `LS_op=deactivate`: ends push subscriptions of a device.
package struct MPNDeactivateRequest: Sendable, Hashable {
    /// The state of a push subscription.
    package enum Status: String, Sendable, Hashable {
        /// It sends notifications.
        case active = "ACTIVE"
        /// Its condition came true.
        case triggered = "TRIGGERED"
    }

    static let operation = "deactivate"

    /// The device.
    package var deviceID: String
    /// The push subscription; nil: all that the status admits.
    package var mpnSubscriptionID: String?
    /// The status of those to be ended; nil: any.
    package var status: Status?

    /// A request.
    package init(deviceID: String, mpnSubscriptionID: String? = nil, status: Status? = nil) {
        self.deviceID = deviceID
        self.mpnSubscriptionID = mpnSubscriptionID
        self.status = status
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.deviceID, deviceID)
        line.add(.pushSubscriptionID, mpnSubscriptionID)
        line.add(.pushSubscriptionStatus, status?.rawValue)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        deviceID = try parameters.required(.deviceID)
        mpnSubscriptionID = parameters.text(.pushSubscriptionID)
        status = try parameters.value(.pushSubscriptionStatus, Status.init(rawValue:))
    }
}
