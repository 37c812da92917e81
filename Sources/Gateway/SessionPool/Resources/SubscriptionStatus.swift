package import SessionCore

/// The status of a subscription resource at a moment.
package struct SubscriptionStatus: Sendable, Equatable {
    /// Between subscribe and unsubscribe, refusal or removal.
    package var isActive = false
    /// Between the server's confirmation and the end of the session or subscription.
    package var isSubscribed = false
    /// Why the server last refused or removed it.
    package var lastError: UpstreamRefusal?
    /// The number of items; nil before the first confirmation of these items and fields.
    package var itemCount: Int?
    /// The number of first-level fields; nil before the first confirmation of these items and fields.
    package var fieldCount: Int?
    /// The position of the key field; nil before the first confirmation and in other modes than COMMAND.
    package var keyPosition: Int?
    /// The position of the command field; nil before the first confirmation and in other modes than COMMAND.
    package var commandPosition: Int?
    /// The frequency in force; nil while unknown.
    package var realMaxFrequency: RealMaxFrequency?
    /// Counts every event of the resource: equal versions mean equal values.
    package var version: UInt64 = 0
    /// The updates received since the resource was made.
    package var updates: UInt64 = 0
    /// The updates that the server reported as lost since then.
    package var lostUpdates: UInt64 = 0
    /// How often the server has confirmed the subscription since then.
    package var confirmations: UInt64 = 0

    /// A subscription that was never active.
    package init() {}

    /// The resource joins an upstream subscription with these values. Without a confirmation, counts and positions stay
    /// as they are.
    mutating func joined(_ table: ValueTable) {
        version &+= 1
        isActive = true
        isSubscribed = table.isSubscribed
        lastError = nil
        realMaxFrequency = table.realMaxFrequency
        guard table.isSubscribed else { return }
        itemCount = table.itemCount
        fieldCount = table.fieldCount
        keyPosition = table.keyPosition
        commandPosition = table.commandPosition
    }

    /// Resets what only a subscribed resource has. Counts and positions stay readable.
    mutating func clearSubscribed() {
        isSubscribed = false
        realMaxFrequency = nil
    }

    /// Resets counts and positions: those of other items and fields are not known yet.
    mutating func clearShape() {
        itemCount = nil
        fieldCount = nil
        keyPosition = nil
        commandPosition = nil
    }

    /// Applies an event other than an update: the resource counts the updates.
    mutating func apply(_ event: SubscriptionEvent) {
        version &+= 1
        switch event {
        case .subscribed(let items, let fields, let key, let command):
            isSubscribed = true
            lastError = nil
            itemCount = items
            fieldCount = fields
            keyPosition = key
            commandPosition = command
            confirmations &+= 1
        case .unsubscribed(let isFinal):
            clearSubscribed()
            if isFinal { isActive = false }
        case .failed:
            clearSubscribed()
            isActive = false
            lastError = UpstreamRefusal(event)
        case .lostUpdates(let count, _), .secondLevelLostUpdates(let count, _):
            lostUpdates &+= UInt64(max(0, count))
        case .realMaxFrequency(let frequency): realMaxFrequency = frequency
        case .update, .endOfSnapshot, .clearSnapshot, .secondLevelFailed: break
        }
    }
}
