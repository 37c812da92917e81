/// `LS_op=register`: makes a device known for push notifications, or changes its token.
package struct MPNRegisterRequest: Sendable, Hashable {
    static let operation = "register"

    /// The platform, `Apple` or `Google`; others are refused by the module, not by the grammar.
    package var platform: String
    /// The application.
    package var appID: String
    /// The token; where it is changed, the old one.
    package var deviceToken: String
    /// The token from now on; nil: no change.
    package var newDeviceToken: String?
    /// Why the device is registered again, for diagnosis; nil: it is not.
    package var cause: String?

    /// A request.
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

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        platform = try parameters.required(.pushType)
        appID = try parameters.required(.appID)
        deviceToken = try parameters.required(.deviceToken)
        newDeviceToken = parameters.text(.newDeviceToken)
        cause = parameters.text(.cause)
    }
}
