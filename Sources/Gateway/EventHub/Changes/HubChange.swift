package import SessionCore

/// One change of the hub's topics. A change appends at most one event to a log, and its application involves no
/// decision: hubs that apply the same changes have the same topics.
package enum HubChange: Sendable, Equatable {
    /// A client was added. No effect if it is known.
    case clientAdded(String, ClientStatus)
    /// A client was removed. Its streams receive the events published before; those without another source are closed.
    case clientRemoved(String)
    /// A subscription resource was added; it is inactive. No effect if it is known.
    case subscriptionAdded(String, SubscriptionProperties)
    /// A subscription resource was removed. Its streams receive the events published before; those without another
    /// source are closed.
    case subscriptionRemoved(String)
    /// The properties of a subscription have changed. A client that carries it keeps its values.
    case propertiesChanged(subscription: String, SubscriptionProperties)
    /// From now on this client carries the subscription, which is active. Nil: no client carries it, and whether it is
    /// active does not change.
    case carried(subscription: String, by: String?)
    /// A subscription becomes active or inactive without an event.
    case activity(subscription: String, isActive: Bool)
    /// An event of a topic. No effect if the topic is unknown.
    case event(HubEvent, TopicID)
}

extension HubChange {
    /// The events that lead from a subscription without values to the values of a table, in order.
    package static func events(of id: String, from table: ValueTable) -> [HubChange] {
        table.eventsFromStart.map { .event(.subscription($0), .subscription(id)) }
    }
}

extension ValueTable {
    /// The events that lead from an empty table to the present one.
    var eventsFromStart: [SubscriptionEvent] {
        guard isSubscribed, let itemCount, let fieldCount else { return [] }
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: itemCount,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition
        )
        let frequency = realMaxFrequency.map { [SubscriptionEvent.realMaxFrequency($0)] } ?? []
        return [subscribed] + frequency + presentState()
    }

    /// As `eventsFromStart`, followed by the last row of each item where it does not result from these events: later
    /// rows from the server refer to it.
    var eventsWithRows: [SubscriptionEvent] {
        let events = eventsFromStart
        return events.isEmpty ? [] : events + lastRows()
    }
}

/// Receives the changes of this process's clients and subscriptions: the hub, or the component that orders the
/// changes of several processes.
///
/// Calls about one topic come one at a time, in the order of its changes. They must return quickly and must not block.
package protocol ChangeSink: Sendable {
    /// Takes one change.
    func take(_ change: HubChange)
    /// Takes changes that belong together: no stream joins between them.
    func take(_ changes: [HubChange])
}

/// A change with its index among the changes at one position.
package struct NumberedChange: Sendable, Equatable {
    /// The index; at most `EventNumber.lastIndex`. It rises from change to change.
    package let index: UInt16
    /// The change.
    package let change: HubChange

    /// A change with its index.
    package init(index: UInt16, change: HubChange) {
        self.index = index
        self.change = change
    }
}
