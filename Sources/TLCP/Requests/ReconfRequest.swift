/// `LS_op=reconf`: changes the frequency limit of a subscription.
package struct ReconfRequest: Sendable, Hashable {
    static let operation = "reconf"

    /// The subscription.
    package var subscriptionID: SubscriptionID
    /// The limit wanted; nil: no change.
    package var maxFrequency: RequestedFrequency?

    /// A request.
    package init(subscriptionID: SubscriptionID, maxFrequency: RequestedFrequency?) {
        self.subscriptionID = subscriptionID
        self.maxFrequency = maxFrequency
    }

    func write(to line: inout ParameterWriter) {
        line.add(.subscriptionID, subscriptionID.rawValue)
        line.add(.operation, Self.operation)
        line.add(.maxFrequency, maxFrequency?.wire)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        subscriptionID = try parameters.subscriptionID()
        maxFrequency = try parameters.value(.maxFrequency, RequestedFrequency.init(wire:))
        if maxFrequency == .unfiltered { throw parameters.wrong(.maxFrequency) }
    }
}
