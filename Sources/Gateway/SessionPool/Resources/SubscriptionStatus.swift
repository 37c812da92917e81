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
    /// The figures of the resource.
    package var counters = SubscriptionCounters()

    /// A subscription that was never active.
    package init() {}

    /// The status of a subscription that is adopted with these values.
    init(adopted table: ValueTable) {
        isActive = true
        isSubscribed = table.isSubscribed
        itemCount = table.itemCount
        fieldCount = table.fieldCount
        keyPosition = table.keyPosition
        commandPosition = table.commandPosition
        realMaxFrequency = table.realMaxFrequency
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

    /// Takes counts and positions of an earlier status where this one has none.
    mutating func keepShape(of earlier: SubscriptionStatus) {
        guard itemCount == nil else { return }
        itemCount = earlier.itemCount
        fieldCount = earlier.fieldCount
        keyPosition = earlier.keyPosition
        commandPosition = earlier.commandPosition
    }

    /// Applies an event.
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
            counters.subscribed &+= 1
        case .unsubscribed(let isFinal):
            clearSubscribed()
            if isFinal { isActive = false }
        case .failed:
            clearSubscribed()
            isActive = false
            lastError = UpstreamRefusal(event)
        case .update: counters.updates &+= 1
        case .lostUpdates(let count, _), .secondLevelLostUpdates(let count, _):
            counters.lostUpdates &+= UInt64(max(0, count))
        case .realMaxFrequency(let frequency): realMaxFrequency = frequency
        case .endOfSnapshot, .clearSnapshot, .secondLevelFailed: break
        }
    }
}

/// The figures of a subscription resource since it was made.
package struct SubscriptionCounters: Sendable, Equatable {
    /// Updates received.
    package var updates: UInt64 = 0
    /// Updates that the server reported as lost.
    package var lostUpdates: UInt64 = 0
    /// How often the server confirmed the subscription.
    package var subscribed: UInt64 = 0

    /// All zero.
    package init() {}
}
