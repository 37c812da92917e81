/// `LS_op=register`: registers a device for mobile push notifications, or changes its token.
package struct MPNRegisterRequest: Sendable, Hashable {
    static let operation = "register"

    /// The platform: `Apple` or `Google`. The parser accepts any text; the MPN module refuses other platforms.
    package var platform: String
    package var appID: String
    /// The token; if it changes, the previous one.
    package var deviceToken: String
    /// The new token; nil: no change.
    package var newDeviceToken: String?
    /// The reason of a repeated registration, for diagnosis; nil: the first one.
    package var cause: String?

    package init(
        platform: String,
        appID: String,
        deviceToken: String,
        newDeviceToken: String? = nil,
        cause: String? = nil
    ) {
        self.platform = platform
        self.appID = appID
        self.deviceToken = deviceToken
        self.newDeviceToken = newDeviceToken
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.pushType, platform)
        line.add(.appID, appID)
        line.add(.deviceToken, deviceToken)
        line.add(.newDeviceToken, newDeviceToken)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        platform = try parameters.required(.pushType)
        appID = try parameters.required(.appID)
        deviceToken = try parameters.required(.deviceToken)
        newDeviceToken = parameters.text(.newDeviceToken)
        cause = parameters.text(.cause)
    }
}

/// `LS_op=reset_badge`: sets the badge of a device to zero.
package struct MPNResetBadgeRequest: Sendable, Hashable {
    static let operation = "reset_badge"

    package var deviceID: String

    package init(deviceID: String) { self.deviceID = deviceID }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.deviceID, deviceID)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        deviceID = try parameters.required(.deviceID)
    }
}
