internal import Changes
internal import SessionCore
internal import Synchronization

/// Resources that move from one upstream subscription to another one with the same items and fields. Their readers keep
/// their values: they receive the events of the former subscription until the new one has its snapshot, and then what
/// differs.
extension SharedSubscription {
    /// Lets a resource of another subscription wait until this one has the values that take the place of the former
    /// ones; false if this subscription has ended meanwhile.
    func expect(_ resource: SubscriptionResource, from former: SharedSubscription) -> Bool {
        former.state.withLock { _ in resource.startMove(to: self, from: former.table) }
        let isExpected = state.withLock { state in
            if state.hasEnded { return false }
            state.arriving.append(Arrival(resource: resource))
            return true
        }
        if !isExpected { _ = resource.endMove() }
        return isExpected
    }

    /// Whether the values that an expected resource waits for are here already.
    func hasArrived(_ resource: SubscriptionResource) -> Bool {
        state.withLock { state in
            guard let index = state.arriving.firstIndex(where: { $0.resource === resource }) else { return false }
            let hasValues = state.arriving[index].look(table)
            return hasValues && !isInterrupted
        }
    }

    /// Whether the values may be older than the values of readers that move here. Such readers wait for the connection.
    var isInterrupted: Bool { client.isInterrupted.load(ordering: .sequentiallyConsistent) }

    /// The session is no longer interrupted: the resources whose values are here have arrived.
    func resumed() {
        let arrivals = state.withLock { state in
            state.arriving.indices.filter { state.arriving[$0].look(table) }.map { state.arriving[$0].resource }
        }
        pool?.arrived(arrivals, at: self, nil)
    }

    /// Refuses one resource, whose new session was refused; false if another call has removed the resource.
    func refuse(_ resource: SubscriptionResource, _ refusal: UpstreamRefusal) -> Bool {
        let isRemoved = state.withLock { state in
            guard state.remove(resource) else { return false }
            report(refusal, to: resource)
            resource.left()
            client.sink.take(Self.leaving(resource))
            return true
        }
        resource.notifyWatchers()
        return isRemoved
    }

    /// A resource that was expected does not come.
    func forget(_ resource: SubscriptionResource) {
        state.withLock { $0.arriving.removeAll { $0.resource === resource } }
    }

    /// Takes over a resource, whose readers receive the differences between the values of both subscriptions. Returns false if
    /// the former subscription does not serve the resource any more, or if the resource is deleted. If this subscription has
    /// ended, the resource becomes inactive.
    func take(_ resource: SubscriptionResource, from former: SharedSubscription) -> Bool {
        guard former.release(resource) else { return false }
        return take(resource, from: former, compare(resource))
    }

    /// The differences between the values of a resource that moves to this subscription, and that no subscription serves, and
    /// the values of this subscription; nil if this subscription has ended. Large tables take long to compare: meanwhile the
    /// events of this subscription are delivered to its other resources, and kept for the resource that moves.
    func compare(_ resource: SubscriptionResource) -> MoveDifference? {
        let present = state.withLock { state -> ValueTable? in
            if state.hasEnded { return nil }
            let values = table
            for index in state.arriving.indices where state.arriving[index].resource === resource {
                state.arriving[index].compare(with: values)
            }
            return values
        }
        guard let present, let readers = resource.movingTable else { return nil }
        var events = readers.isSubscribed ? readers.updates(to: present) : []
        if present.realMaxFrequency != readers.realMaxFrequency {
            events.append(.realMaxFrequency(present.realMaxFrequency))
        }
        return (readers.isSubscribed, events)
    }

    /// Takes over a resource that was compared.
    func take(
        _ resource: SubscriptionResource,
        from former: SharedSubscription,
        _ difference: MoveDifference?
    ) -> Bool {
        state.withLock { state in
            let missed = state.arriving.first { $0.resource === resource }?.missed ?? []
            state.arriving.removeAll { $0.resource === resource }
            let difference = state.hasEnded ? nil : difference
            // The deletion releases both subscriptions.
            guard resource.moved(to: difference == nil ? nil : self) else { return false }
            guard let difference else {
                end(resource)
                return true
            }
            state.resources.append(resource)
            guard difference.isSubscribed else {
                // The session of the former subscription has ended: the values of that session are gone.
                report(resource, isAdded: true, &state)
                return true
            }
            if former.client !== client { client.sink.take(.subscription(resource.id, .carried(by: client.id))) }
            for event in difference.events + missed { pass(event, to: resource) }
            return true
        }
    }

    /// Removes a resource without an event; false if it is not one of this subscription.
    func release(_ resource: SubscriptionResource) -> Bool { state.withLock { $0.remove(resource) } }
}

/// Whether the readers of a resource that moves have values, and the events that lead from these to the values of the subscription
/// that it moves to.
typealias MoveDifference = (isSubscribed: Bool, events: [SubscriptionEvent])

/// The move of a resource to another upstream subscription.
struct SubscriptionMove {
    let target: SharedSubscription
    /// The values that the readers of the resource have.
    var table: ValueTable
}

extension SubscriptionResource {
    /// The upstream subscription that the resource moves to; nil: the resource does not move.
    var moveTarget: SharedSubscription? { state.withLock { $0.move?.target } }

    /// The values that the readers of the resource have; nil: the resource does not move.
    var movingTable: ValueTable? { state.withLock { $0.move?.table } }

    /// Starts a move from a subscription with these values; its events are applied to them until the end of the move. The
    /// former subscription delivers no event meanwhile.
    func startMove(to target: SharedSubscription, from table: ValueTable) {
        isMoving.store(true, ordering: .relaxed)
        state.withLock { $0.move = SubscriptionMove(target: target, table: table) }
    }

    /// Applies an event of the former subscription to the values of the readers.
    func applyToMove(_ event: SubscriptionEvent) { state.withLock { $0.move?.table.apply(event) } }

    /// Ends the move; returns its target, nil if the resource did not move.
    func endMove() -> SharedSubscription? {
        isMoving.store(false, ordering: .relaxed)
        return state.withLock { $0.move.take()?.target }
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
