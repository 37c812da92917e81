internal import Changes
internal import LightstreamerClient
package import SessionCore

/// The move of a resource to another upstream subscription with the same items and fields. Readers keep the values that
/// they have: until the new subscription has its snapshot, events of the former one follow, and then what differs.
struct SubscriptionMove {
    let target: SharedSubscription
    /// The values that the readers of the resource have.
    var table: ValueTable
}

extension ValueTable {
    /// The events that lead from the values of subscribed readers to those of the subscription that their resource moves to.
    func difference(to present: ValueTable) -> [SubscriptionEvent] {
        let frequency = present.realMaxFrequency
        return updates(to: present) + (frequency == realMaxFrequency ? [] : [.realMaxFrequency(frequency)])
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

/// Changes of the properties of subscriptions. A sharer of an upstream subscription whose frequency changes moves to another
/// one, while its readers keep their values.
extension SessionPool {
    /// Replaces the properties: all of them while inactive, while active `requestedMaxFrequency` only. The caller holds
    /// the resource's `changes`.
    package func change(_ resource: SubscriptionResource, to properties: SubscriptionProperties) throws(PoolError) {
        let present = resource.properties
        if present == properties { return requestAgain(properties.requestedMaxFrequency, of: resource) }
        guard let shared = resource.carrier else {
            cancelMove(resource)
            return set(properties, of: resource)
        }
        var allowed = present
        allowed.requestedMaxFrequency = properties.requestedMaxFrequency
        if allowed != properties {
            throw .lifecycle(rule: "only requestedMaxFrequency and ttl may change while the subscription is active")
        }
        guard present.requestedMaxFrequency != .unfiltered, let frequency = properties.requestedMaxFrequency,
            frequency != .unfiltered
        else {
            throw .lifecycle(
                rule: "requestedMaxFrequency may not change from or to unfiltered, or to null, while active"
            )
        }
        if changesAlone(shared, resource, to: properties) {
            cancelMove(resource)
            try? shared.subscription.setRequestedMaxFrequency(frequency)
            set(properties, of: resource)
        } else {
            try move(resource, from: present, to: properties)
        }
    }

    /// The same frequency is set again: the client requests the limit once more if the server has refused it.
    private func requestAgain(_ frequency: RequestedMaxFrequency?, of resource: SubscriptionResource) {
        guard let subscription = resource.carrier?.subscription, subscription.requestedMaxFrequency == frequency else {
            return
        }
        try? subscription.setRequestedMaxFrequency(frequency)
    }

    /// Moves an active resource to another upstream subscription; if that is refused, it returns to its old properties, and
    /// to the move to them if there was one.
    private func move(
        _ resource: SubscriptionResource,
        from present: SubscriptionProperties,
        to properties: SubscriptionProperties
    ) throws(PoolError) {
        if case .pooled(let session) = resource.home {
            try checkCredits(for: SharedKey(session: session, properties: properties))
        }
        let wasMoving = resource.moveTarget != nil
        cancelMove(resource)
        do throws(PoolError) {
            if try moveOnTheFly(resource, to: properties) { return set(properties, of: resource) }
        } catch {
            if wasMoving { _ = try? moveOnTheFly(resource, to: present) }
            throw error
        }
        makeInactive(resource)
        set(properties, of: resource)
        do {
            _ = try makeActive(resource)
        } catch {
            set(present, of: resource)
            _ = try? makeActive(resource)
            throw error
        }
    }

    private func set(_ properties: SubscriptionProperties, of resource: SubscriptionResource) {
        resource.setProperties(properties)
        sink.take(.subscription(resource.id, .propertiesChanged(properties)))
        resource.watchers.notify()
    }

    /// Whether the resource is the only user of its upstream subscription; if so, the subscription's key changes with
    /// its properties, and implicit resources without readers, which have the former properties, are deleted.
    private func changesAlone(
        _ shared: SharedSubscription,
        _ resource: SubscriptionResource,
        to properties: SubscriptionProperties
    ) -> Bool {
        guard let id = shared.id else { return true }
        let unread: [SubscriptionResource]? = state.withLock { state in
            guard state.machine.rekeyed(id, to: properties) else { return nil }
            return shared.resources.filter { $0 !== resource && state.resources.withdraw($0) }
        }
        guard let unread else { return false }
        deleteUnread(unread)
        return true
    }

    /// Starts to move a subscribed resource to the upstream subscription with other properties; false if the resource is
    /// not subscribed. If it throws, nothing has changed. Throws `unknownSubscription` if the resource is deleted meanwhile.
    func moveOnTheFly(
        _ resource: SubscriptionResource,
        to properties: SubscriptionProperties
    ) throws(PoolError) -> Bool {
        guard case .pooled(let session) = resource.home, let former = resource.carrier, resource.status.isSubscribed
        else { return false }
        let key = SharedKey(session: session, properties: properties)
        while true {
            let acquired = try acquire(key)
            let isExpected = acquired.shared.expect(resource, from: former)
            do throws(PoolError) {
                try open(acquired)
            } catch {
                acquired.shared.forget(resource)
                _ = resource.endMove()
                throw error
            }
            guard isExpected else { continue }
            if resource.isDeleted {
                // The deletion, which does not wait, has perhaps found no move to cancel.
                acquired.shared.forget(resource)
                cancelMove(resource)
                throw .unknownSubscription(resource.id.rawValue)
            }
            if acquired.shared.hasArrived(resource) { finishMove(resource) }
            return true
        }
    }

    /// The values of the subscription that resources move to have come, or the subscription was refused.
    func arrived(_ resources: [SubscriptionResource], at target: SharedSubscription, _ refusal: UpstreamRefusal?) {
        for resource in resources { arrived(resource, at: target, refusal) }
    }

    /// The values of the subscription that a resource moves to have come, or the subscription was refused. No effect if the
    /// move has ended meanwhile, also if another one has begun.
    ///
    /// If the subscription alone was refused, the resource stays where it is, as one that changes alone and whose change the
    /// server refuses; with the session of its account, the resource is refused.
    func arrived(
        _ resource: SubscriptionResource,
        at target: SharedSubscription,
        _ refusal: UpstreamRefusal?,
        isOfSession: Bool = false
    ) {
        resource.changes.withLock { _ in
            guard resource.moveTarget === target else { return }
            guard let refusal else { return finishMove(resource) }
            // Without a user: the machine has removed the subscription that was refused.
            guard resource.endMove() != nil, isOfSession, let former = resource.carrier else { return }
            if former.refuse(resource, refusal) { removeUser(of: former) }
        }
    }

    /// Ends the moves that have waited for the connection of the target's session.
    func finishMoves(to client: PooledClient) {
        guard client.isDelivering.load(ordering: .sequentiallyConsistent) else { return }
        for shared in sharedSubscriptions(on: client) { shared.resumed() }
    }

    /// Ends a move without an effect, and releases its target.
    func cancelMove(_ resource: SubscriptionResource) {
        guard let target = resource.endMove() else { return }
        target.forget(resource)
        removeUser(of: target)
    }

    private func finishMove(_ resource: SubscriptionResource) {
        guard let target = resource.moveTarget else { return }
        // Without a former subscription, which has ended, the resource stays as it is: inactive, or active again.
        guard let former = resource.carrier, target !== former else { return cancelMove(resource) }
        if target.take(resource, from: former) { removeUser(of: former) }
        resource.watchers.notify()
    }

    func removeUser(of shared: SharedSubscription) {
        guard let id = shared.id else { return }
        let now = clock()
        state.withLock { $0.machine.released(id, at: now) }
    }
}
