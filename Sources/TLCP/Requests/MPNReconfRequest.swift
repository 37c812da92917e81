/// `LS_op=pn_reconf`: changes a push subscription in place.
package struct MPNReconfRequest: Sendable, Hashable {
    static let operation = "pn_reconf"

    /// The mode that the subscription has.
    package var mode: WireMode
    /// The items that the subscription has.
    package var group: String
    /// The fields that the subscription has.
    package var schema: String
    /// The Data Adapter that the subscription has; nil: `DEFAULT`.
    package var dataAdapter: String?
    /// The device.
    package var deviceID: String
    /// The push subscription.
    package var mpnSubscriptionID: String
    /// The frequency limit wanted; nil: no change.
    package var maxFrequency: RequestedFrequency?
    /// The notification; nil: no change.
    package var notificationFormat: String?
    /// The condition; empty: none from now on; nil: no change.
    package var trigger: String?

    /// A request that changes nothing yet.
    package init(mode: WireMode, group: String, schema: String, deviceID: String, mpnSubscriptionID: String) {
        self.mode = mode
        self.group = group
        self.schema = schema
        self.deviceID = deviceID
        self.mpnSubscriptionID = mpnSubscriptionID
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.mode, mode.rawValue)
        line.add(.group, group)
        line.add(.schema, schema)
        line.add(.dataAdapter, dataAdapter)
        line.add(.deviceID, deviceID)
        line.add(.pushSubscriptionID, mpnSubscriptionID)
        line.add(.maxFrequency, maxFrequency?.wire)
        line.add(.notificationFormat, notificationFormat)
        line.add(.trigger, trigger)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        mode = try parameters.requiredValue(.mode, WireMode.init(mpnWire:))
        group = try parameters.requiredNonEmpty(.group)
        schema = try parameters.requiredNonEmpty(.schema)
        dataAdapter = parameters.text(.dataAdapter)
        deviceID = try parameters.required(.deviceID)
        mpnSubscriptionID = try parameters.required(.pushSubscriptionID)
        maxFrequency = try parameters.value(.maxFrequency, RequestedFrequency.init(wire:))
        notificationFormat = parameters.text(.notificationFormat)
        trigger = parameters.text(.trigger)
    }
}
