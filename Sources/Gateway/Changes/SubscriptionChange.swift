package import SessionCore

/// A change of a subscription resource.
package enum SubscriptionChange: Sendable, Equatable {
    /// The resource was added; it is inactive. No effect if it is known.
    case added(SubscriptionProperties)
    /// The resource was removed. Its streams receive the events published before; those without another source are closed.
    case removed
    /// The properties have changed. A client that carries the subscription keeps its values.
    case propertiesChanged(SubscriptionProperties)
    /// From now on this client carries the subscription, which is active. Nil: no client carries it, and whether it is
    /// active does not change.
    case carried(by: ClientID?)
    /// The subscription becomes active or inactive without an event.
    case activity(isActive: Bool)
    /// An event of the subscription. No effect if the subscription is unknown.
    case event(SubscriptionEvent)
}

extension ValueTable {
    /// The events that lead from an empty table to the present one, in order; none for a table that is not subscribed.
    package var eventsFromStart: [SubscriptionEvent] {
        let first = firstEvents
        return first.isEmpty ? [] : first + presentState()
    }

    /// The confirmation and the frequency of a subscription in its present state; none while it is not subscribed.
    package var firstEvents: [SubscriptionEvent] {
        guard isSubscribed, let itemCount, let fieldCount else { return [] }
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: itemCount,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition
        )
        let frequency = realMaxFrequency.map { [SubscriptionEvent.realMaxFrequency($0)] } ?? []
        return [subscribed] + frequency
    }

    /// As `eventsFromStart`, followed by the last row of each item where it does not result from these events: later
    /// rows from the server refer to it.
    package var eventsWithRows: [SubscriptionEvent] {
        let events = eventsFromStart
        return events.isEmpty ? [] : events + lastRows()
    }
}
