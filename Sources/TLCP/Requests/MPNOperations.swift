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
