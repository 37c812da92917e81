/// `LS_op=add`: subscribes.
package struct AddRequest: Sendable, Hashable {
    static let operation = "add"

    /// The client's number for the subscription.
    package var subscriptionID: SubscriptionID
    package var mode: SubscriptionMode
    /// The items: a group, or a list of names with single spaces between them.
    package var group: String
    /// The fields: a schema, or a list of names with single spaces between them.
    package var schema: String
    /// The Data Adapter; nil: `DEFAULT`.
    package var dataAdapter: String?
    /// The selector; nil: none.
    package var selector: String?
    /// The requested snapshot; nil: unspecified, which means none.
    package var snapshot: RequestedSnapshot?
    /// The requested frequency limit; nil: unspecified, which means `unlimited`.
    package var maxFrequency: RequestedMaxFrequency?
    /// The requested buffer size; nil: unspecified, which means 1 for MERGE and `unlimited` for DISTINCT.
    package var bufferSize: RequestedBufferSize?
    /// Whether the server confirms with `REQOK` over a WebSocket.
    package var isAcknowledged: Bool

    /// A request with the required parameters only; `isAcknowledged`: whether the server confirms it over a WebSocket.
    package init(
        subscriptionID: SubscriptionID,
        mode: SubscriptionMode,
        group: String,
        schema: String,
        isAcknowledged: Bool = true
    ) {
        self.subscriptionID = subscriptionID
        self.mode = mode
        self.group = group
        self.schema = schema
        self.isAcknowledged = isAcknowledged
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.subscriptionID, subscriptionID.rawValue)
        line.add(.mode, mode.rawValue)
        line.add(.group, group)
        line.add(.schema, schema)
        line.add(.dataAdapter, dataAdapter)
        line.add(.selector, selector)
        line.add(.snapshot, snapshot?.wire)
        line.add(.maxFrequency, maxFrequency?.wire)
        line.add(.bufferSize, bufferSize?.wire)
        line.add(.ack, isAcknowledged, unless: true)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        subscriptionID = try parameters.subscriptionID()
        mode = try parameters.requiredValue(.mode, SubscriptionMode.init(rawValue:))
        group = try parameters.required(.group)
        schema = try parameters.required(.schema)
        dataAdapter = parameters.text(.dataAdapter)
        selector = parameters.text(.selector)
        snapshot = try parameters.value(.snapshot, RequestedSnapshot.init(wire:))
        maxFrequency = try parameters.value(.maxFrequency, RequestedMaxFrequency.init(wire:))
        if mode == .merge || mode == .distinct {
            bufferSize = try parameters.value(.bufferSize, RequestedBufferSize.init(wire:))
        }
        isAcknowledged = try parameters.flag(.ack, default: true)
        if case .length = snapshot, mode != .distinct { throw parameters.wrong(.snapshot) }
    }
}

/// `LS_op=delete`: unsubscribes.
package struct DeleteRequest: Sendable, Hashable {
    static let operation = "delete"

    package var subscriptionID: SubscriptionID
    /// Whether the server confirms with `REQOK` over a WebSocket.
    package var isAcknowledged: Bool
    /// The reason, for diagnosis.
    package var cause: String?

    package init(subscriptionID: SubscriptionID, isAcknowledged: Bool = true, cause: String? = nil) {
        self.subscriptionID = subscriptionID
        self.isAcknowledged = isAcknowledged
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.subscriptionID, subscriptionID.rawValue)
        line.add(.operation, Self.operation)
        line.add(.ack, isAcknowledged, unless: true)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        subscriptionID = try parameters.subscriptionID()
        isAcknowledged = try parameters.flag(.ack, default: true)
        cause = parameters.text(.cause)
    }
}

/// `LS_op=reconf`: changes the frequency limit of a subscription.
package struct ReconfRequest: Sendable, Hashable {
    static let operation = "reconf"

    package var subscriptionID: SubscriptionID
    /// The requested limit; nil: no change.
    package var maxFrequency: RequestedMaxFrequency?

    package init(subscriptionID: SubscriptionID, maxFrequency: RequestedMaxFrequency?) {
        self.subscriptionID = subscriptionID
        self.maxFrequency = maxFrequency
    }

    func write(to line: inout ParameterWriter) {
        line.add(.subscriptionID, subscriptionID.rawValue)
        line.add(.operation, Self.operation)
        line.add(.maxFrequency, maxFrequency?.wire)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        subscriptionID = try parameters.subscriptionID()
        maxFrequency = try parameters.value(.maxFrequency, RequestedMaxFrequency.init(wire:))
        if maxFrequency == .unfiltered { throw parameters.wrong(.maxFrequency) }
    }
}
