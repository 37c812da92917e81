/// `LS_op=activate`: subscribes to push notifications, or changes such a subscription.
package struct MPNActivateRequest: Sendable, Hashable {
    static let operation = "activate"

    /// The client's number for the subscription, which counts in this session only.
    package var subscriptionID: SubscriptionID
    /// How the items behave: MERGE or DISTINCT.
    package var mode: WireMode
    /// The items.
    package var group: String
    /// The fields.
    package var schema: String
    /// The device.
    package var deviceID: String
    /// The notification, a JSON text with arguments.
    package var notificationFormat: String
    /// The Data Adapter; nil: `DEFAULT`.
    package var dataAdapter: String?
    /// The frequency limit wanted.
    package var maxFrequency: RequestedFrequency?
    /// The buffer wanted.
    package var bufferSize: BufferSize?
    /// The condition for a single notification; nil: none.
    package var trigger: String?
    /// Whether an equal subscription of the device takes the place of a new one.
    package var coalesces = false
    /// The push subscription to change; nil: a new one.
    package var mpnSubscriptionID: String?

    /// A request with nothing but what is required.
    package init(
        subscriptionID: SubscriptionID,
        mode: WireMode,
        group: String,
        schema: String,
        deviceID: String,
        notificationFormat: String
    ) {
        self.subscriptionID = subscriptionID
        self.mode = mode
        self.group = group
        self.schema = schema
        self.deviceID = deviceID
        self.notificationFormat = notificationFormat
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.subscriptionID, subscriptionID.rawValue)
        line.add(.mode, mode.rawValue)
        line.add(.group, group)
        line.add(.schema, schema)
        line.add(.deviceID, deviceID)
        line.add(.notificationFormat, notificationFormat)
        line.add(.dataAdapter, dataAdapter)
        line.add(.maxFrequency, maxFrequency?.wire)
        line.add(.bufferSize, bufferSize?.wire)
        line.add(.trigger, trigger)
        line.add(.coalescing, coalesces, unless: false)
        line.add(.pushSubscriptionID, mpnSubscriptionID)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        subscriptionID = try parameters.subscriptionID()
        mode = try parameters.requiredValue(.mode, WireMode.init(mpnWire:))
        group = try parameters.requiredNonEmpty(.group)
        schema = try parameters.requiredNonEmpty(.schema)
        deviceID = try parameters.required(.deviceID)
        notificationFormat = try parameters.required(.notificationFormat)
        dataAdapter = parameters.text(.dataAdapter)
        maxFrequency = try parameters.value(.maxFrequency, RequestedFrequency.init(wire:))
        bufferSize = try parameters.value(.bufferSize, BufferSize.init(wire:))
        trigger = parameters.text(.trigger)
        coalesces = try parameters.flag(.coalescing, default: false)
        mpnSubscriptionID = parameters.text(.pushSubscriptionID)
    }
}

extension WireMode {
    /// A mode that push notifications know.
    init?(mpnWire text: String) {
        guard let mode = WireMode(rawValue: text), mode == .merge || mode == .distinct else { return nil }
        self = mode
    }
}
