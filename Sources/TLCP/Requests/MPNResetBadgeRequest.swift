/// `LS_op=reset_badge`: sets the badge of a device to zero.
package struct MPNResetBadgeRequest: Sendable, Hashable {
    static let operation = "reset_badge"

    /// The device.
    package var deviceID: String

    /// A request.
    package init(deviceID: String) { self.deviceID = deviceID }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.deviceID, deviceID)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        deviceID = try parameters.required(.deviceID)
    }
}
