internal import SessionCore

/// The move of a resource to another upstream subscription with the same items and fields. Readers keep the values that
/// they have: until the new subscription has its snapshot, events of the former one follow, and then what differs.
struct SubscriptionMove {
    let target: SharedSubscription
    /// The values that the readers of the resource have.
    var table: ValueTable
}

/// What leads from the values of the readers of a resource to those of the subscription that it moves to.
struct MoveDifference {
    /// Whether the readers have values.
    let isSubscribed: Bool
    let events: [SubscriptionEvent]

    init(from readers: ValueTable, to present: ValueTable) {
        isSubscribed = readers.isSubscribed
        let frequency = present.realMaxFrequency
        events =
            (isSubscribed ? readers.updates(to: present) : [])
            + (frequency == readers.realMaxFrequency ? [] : [.realMaxFrequency(frequency)])
    }
}

/// The resources that move to a subscription, and wait for its values.
struct Arrivals {
    private(set) var all: [Arrival] = []

    mutating func add(_ resource: SubscriptionResource) { all.append(Arrival(resource: resource)) }

    /// Removes a resource; returns the events since its values were compared.
    mutating func remove(_ resource: SubscriptionResource) -> [SubscriptionEvent] {
        defer { all.removeAll { $0.resource === resource } }
        return all.first { $0.resource === resource }?.missed ?? []
    }

    mutating func removeAll() -> [SubscriptionResource] {
        defer { all = [] }
        return all.map(\.resource)
    }

    mutating func compare(_ resource: SubscriptionResource, with table: ValueTable) {
        for index in all.indices where all[index].resource === resource { all[index].compare(with: table) }
    }

    /// Takes an event of the subscription, whose values are in `table`. Returns the resources whose values have come.
    mutating func take(_ event: SubscriptionEvent, _ table: ValueTable, isInterrupted: Bool) -> [SubscriptionResource] {
        all.indices.filter { all[$0].take(event, table, isInterrupted: isInterrupted) }.map { all[$0].resource }
    }

    /// Whether the values that a resource waits for are here.
    mutating func hasValues(_ resource: SubscriptionResource, _ table: ValueTable) -> Bool {
        all.indices.contains { all[$0].resource === resource && all[$0].look(table) }
    }

    /// Looks for the values that are missing. Returns the resources whose values are here.
    mutating func look(_ table: ValueTable) -> [SubscriptionResource] {
        all.indices.filter { all[$0].look(table) }.map { all[$0].resource }
    }
}

/// A resource that waits for the values of the subscription that it moves to.
struct Arrival {
    let resource: SubscriptionResource
    /// The items whose values have not come yet; nil before the server has confirmed the subscription.
    private var missing: Set<Int>?
    /// The events since the values were read for a comparison with those of the readers; nil: they were not.
    private(set) var missed: [SubscriptionEvent]?
    /// The version of the values that were read, until the next event.
    private var compared: UInt64?

    /// An arrival before the confirmation.
    init(resource: SubscriptionResource) { self.resource = resource }

    /// The present values are compared with those of the readers: later events are kept.
    mutating func compare(with table: ValueTable) { (missed, compared) = ([], table.version) }

    /// Takes an event of the new subscription, whose values are in `table`. Returns whether all values have come. While the
    /// session is interrupted, none counts: `look` is called when it has resumed.
    mutating func take(_ event: SubscriptionEvent, _ table: ValueTable, isInterrupted: Bool) -> Bool {
        if missed != nil {
            defer { compared = nil }
            // The update has changed the values before they were read.
            if case .update = event, table.version == compared { return false }
            missed?.append(event)
            return false
        }
        if isInterrupted {
            missing = nil
            return false
        }
        guard let readers = resource.movingTable else { return false }
        switch event {
        case .update(let update): check(update.itemPos, readers, table)
        case .endOfSnapshot(let item): check(item, readers, table)
        case .subscribed, .unsubscribed: missing = nil
        default: break
        }
        // Readers may have got values meanwhile that this subscription does not have yet.
        if missing?.isEmpty ?? true { look(readers, table) }
        return missing?.isEmpty ?? false
    }

    /// Looks for the items that are missing; returns whether all values have come.
    mutating func look(_ table: ValueTable) -> Bool {
        if let readers = resource.movingTable { look(readers, table) }
        return missing?.isEmpty ?? false
    }

    private mutating func look(_ readers: ValueTable, _ table: ValueTable) {
        guard table.isSubscribed, let count = table.itemCount else { return }
        missing = Set((1...max(1, count)).filter { !readers.isCovered($0, by: table) })
    }

    private mutating func check(_ item: Int, _ readers: ValueTable, _ table: ValueTable) {
        if missing?.contains(item) == true, readers.isCovered(item, by: table) { missing?.remove(item) }
    }
}
