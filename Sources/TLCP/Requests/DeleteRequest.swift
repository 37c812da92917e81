/// `LS_op=delete`: unsubscribes.
package struct DeleteRequest: Sendable, Hashable {
    static let operation = "delete"

    /// The subscription.
    package var subscriptionID: SubscriptionID
    /// Whether a WebSocket server confirms with `REQOK`.
    package var isAcknowledged: Bool
    /// Why, for diagnosis.
    package var cause: String?

    /// A request.
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

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        subscriptionID = try parameters.subscriptionID()
        isAcknowledged = try parameters.flag(.ack, default: true)
        cause = parameters.text(.cause)
    }
}
