internal import Changes
internal import LightstreamerClient
internal import SessionCore
internal import Synchronization

/// One upstream subscription and the resources that it serves.
///
/// Each of its events goes to all of its resources under one lock, so that a resource which joins gets the present
/// values first and then each event, none twice and none left out.
final class SharedSubscription: Sendable {
    struct State {
        var resources: [SubscriptionResource] = []
        var arriving = Arrivals()
        /// The resources whose values were reported since the last event, with the versions of these values.
        var reported: [ObjectIdentifier: UInt64] = [:]
        var hasEnded = false
        /// The size of the values that the budget of the upstream contains.
        var countedBytes = 0

        /// Removes a resource; false if the subscription does not serve it.
        mutating func remove(_ resource: SubscriptionResource) -> Bool {
            guard let index = resources.firstIndex(where: { $0 === resource }) else { return false }
            resources.remove(at: index)
            reported[ObjectIdentifier(resource)] = nil
            return true
        }
    }

    /// The id in the pool's machine; nil on dedicated clients, where nothing is shared.
    let id: SharedID?
    let client: PooledClient
    let subscription: Subscription

    private let properties: SubscriptionProperties
    /// The pool, whose methods are called without the lock of the subscription.
    weak let pool: SessionPool?
    let state = RankedMutex(State(), rank: .sharedSubscription)

    init(id: SharedID?, client: PooledClient, properties: SubscriptionProperties, pool: SessionPool) {
        self.id = id
        self.client = client
        self.properties = properties
        self.pool = pool
        subscription = Subscription(checked: properties)
    }

    /// Adds a resource; false if the subscription has ended meanwhile.
    func join(_ resource: SubscriptionResource) -> Bool {
        let hasJoined = state.withLock { state in
            if state.hasEnded { return false }
            state.resources.append(resource)
            report(resource, isAdded: true, &state)
            return true
        }
        resource.watchers.notify()
        return hasJoined
    }

    /// Adds the resource of a subscription that is adopted with its session; the sink knows these values.
    func adopt(_ resource: SubscriptionResource, _ table: ValueTable) {
        state.withLock { state in
            state.resources.append(resource)
            resource.joined(self, table)
        }
    }

    /// Removes a resource, whose last event is `unsubscribed` if it was subscribed. False if another call has removed it.
    @discardableResult
    func leave(_ resource: SubscriptionResource) -> Bool {
        let isRemoved = state.withLock { state in
            // No subscription serves a resource while it is compared for a move, which `carrier` does not show yet.
            guard state.remove(resource) || resource.carrier === self else { return false }
            end(resource)
            return true
        }
        resource.watchers.notify()
        return isRemoved
    }

    /// No subscription serves a resource from now on; its last event is `unsubscribed` if it was subscribed.
    func end(_ resource: SubscriptionResource) {
        if resource.status.isSubscribed { pass(.unsubscribed(isFinal: true), to: resource) }
        resource.left()
        let id = resource.id
        client.sink.take([.subscription(id, .carried(by: nil)), .subscription(id, .activity(isActive: false))])
    }

    /// Removes a resource that another subscription serves next: readers lose the values, and watchers do not see the inactive
    /// resource in between. False if another call has removed the resource.
    func handOver(_ resource: SubscriptionResource) -> Bool {
        state.withLock { state in
            guard state.remove(resource) else { return false }
            if resource.status.isSubscribed { pass(.unsubscribed(isFinal: false), to: resource) }
            end(resource)
            return true
        }
    }

    /// Accepts no further resources and receives no further events. The resources that were expected, which it returns, stay
    /// where they are.
    ///
    /// The subscription and its observer refer to each other: without this, neither is ever released.
    @discardableResult
    func end() -> [SubscriptionResource] {
        let arriving = state.withLock { state in
            state.hasEnded = true
            _ = client.values.add(-state.countedBytes)
            state.countedBytes = 0
            return state.arriving.removeAll()
        }
        for resource in arriving where resource.moveTarget === self { _ = resource.endMove() }
        subscription.removeObserver(self)
        return arriving
    }

    /// Reports to the sink that a resource joins now; no effect if the subscription does not serve the resource.
    func reportAgain(_ resource: SubscriptionResource) {
        state.withLock { state in
            guard state.resources.contains(where: { $0 === resource }) else { return }
            report(resource, isAdded: false, &state)
        }
    }

    var resources: [SubscriptionResource] { state.withLock { $0.resources } }

    /// The size of the values that the budget of the upstream contains.
    var countedBytes: Int { state.withLock { $0.countedBytes } }

    /// The present values; empty while the subscription is not subscribed upstream.
    var table: ValueTable { subscription.valueTable ?? ValueTable(properties: properties) }

    /// Passes an event that does not come from the server to one resource.
    func pass(_ event: SubscriptionEvent, to resource: SubscriptionResource) {
        resource.apply(event)
        client.sink.take(.subscription(resource.id, .event(event)))
    }

    /// Reports that the client carries a resource, with the present values, which a resource that was added gets as well.
    func report(_ resource: SubscriptionResource, isAdded: Bool, _ state: inout State) {
        let table = subscription.valueTable
        if isAdded { resource.joined(self, table) }
        client.sink.carry(resource.id, by: client.id, table)
        if let table, table.isSubscribed { state.reported[ObjectIdentifier(resource)] = table.version }
    }

    /// The resources whose reported values contain the present update: it has changed the values, and is delivered now.
    private func knowing(_ state: inout State) -> Set<ObjectIdentifier> {
        let version = subscription.valueTable?.version
        defer { state.reported = [:] }
        return Set(state.reported.filter { $0.value == version }.keys)
    }

    /// Reports, before `subscribed`, what another process needs to continue the subscription.
    private func offer(to resource: SubscriptionResource) {
        if properties.secondLevelFields == nil, let number = subscription.number {
            client.sink.take(.numbered(resource.id, UInt64(clamping: number)))
        } else {
            client.withdrawOffer()
        }
    }

    // MARK: - Moves

    /// Lets a resource of another subscription wait until this one has the values that take the place of the former
    /// ones; false if this subscription has ended meanwhile.
    func expect(_ resource: SubscriptionResource, from former: SharedSubscription) -> Bool {
        former.state.withLock { _ in resource.startMove(to: self, from: former.table) }
        let isExpected = state.withLock { state in
            if state.hasEnded { return false }
            state.arriving.add(resource)
            return true
        }
        if !isExpected { _ = resource.endMove() }
        return isExpected
    }

    /// Whether the values that an expected resource waits for are here already.
    func hasArrived(_ resource: SubscriptionResource) -> Bool {
        // Under the lock: between the two, the session could end, with the values, and another one be connected.
        state.withLock { $0.arriving.hasValues(resource, table) && !isInterrupted }
    }

    /// Whether the values may be older than the values of readers that move here. Such readers wait for the connection.
    var isInterrupted: Bool { client.isInterrupted.load(ordering: .sequentiallyConsistent) }

    /// The session is no longer interrupted: the resources whose values are here have arrived.
    func resumed() { pool?.arrived(state.withLock { $0.arriving.look(table) }, at: self, nil) }

    /// Refuses one resource, whose new session was refused; false if another call has removed the resource.
    func refuse(_ resource: SubscriptionResource, _ refusal: UpstreamRefusal) -> Bool {
        let isRemoved = state.withLock { state in
            guard state.remove(resource) else { return false }
            report(refusal, to: resource)
            end(resource)
            return true
        }
        resource.watchers.notify()
        return isRemoved
    }

    /// A resource that was expected does not come.
    func forget(_ resource: SubscriptionResource) { state.withLock { _ = $0.arriving.remove(resource) } }

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
    func compare(_ resource: SubscriptionResource) -> [SubscriptionEvent]? {
        let present = state.withLock { state -> ValueTable? in
            if state.hasEnded { return nil }
            let values = table
            state.arriving.compare(resource, with: values)
            return values
        }
        guard let present, let readers = resource.movingTable else { return nil }
        return readers.isSubscribed ? readers.difference(to: present) : []
    }

    /// Takes over a resource that was compared.
    func take(
        _ resource: SubscriptionResource,
        from former: SharedSubscription,
        _ difference: [SubscriptionEvent]?
    ) -> Bool {
        state.withLock { state in
            let missed = state.arriving.remove(resource)
            let difference = state.hasEnded ? nil : difference
            let areSubscribed = resource.movingTable?.isSubscribed == true
            // The deletion releases both subscriptions.
            guard resource.moved(to: difference == nil ? nil : self) else { return false }
            guard let difference else {
                end(resource)
                return true
            }
            state.resources.append(resource)
            guard areSubscribed else {
                // The session of the former subscription has ended: the values of that session are gone.
                report(resource, isAdded: true, &state)
                return true
            }
            if former.client !== client { client.sink.take(.subscription(resource.id, .carried(by: client.id))) }
            for event in difference + missed { pass(event, to: resource) }
            return true
        }
    }

    /// Removes a resource without an event; false if it is not one of this subscription.
    func release(_ resource: SubscriptionResource) -> Bool { state.withLock { $0.remove(resource) } }
}

extension SharedSubscription: SubscriptionObserver {
    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        let (arrivals, refusal) =
            switch event {
            case .failed where state.withLock({ $0.resources.contains { $0.status.isSubscribed } }):
                apply([event, .unsubscribed(isFinal: true)])
            case .unsubscribed(isFinal: true):
                if let removal = UpstreamRefusal(event) {
                    apply([.failed(code: removal.code, message: removal.message), event])
                } else {
                    apply(CollectionOfOne(event))
                }
            default: apply(CollectionOfOne(event))
            }
        if !arrivals.isEmpty { pool?.arrived(arrivals, at: self, refusal) }
    }

    /// Ends the subscription with an error that is not the server's response to it: the server has refused the session of the
    /// pooled client, or the values exceed their budget. Returns the resources that move to this subscription.
    func refuse(_ refusal: UpstreamRefusal) -> [SubscriptionResource] {
        let outcome = state.withLock { state -> (arrivals: [SubscriptionResource], affected: [SubscriptionResource])? in
            if state.hasEnded { return nil }
            let affected = state.resources
            for resource in affected { report(refusal, to: resource) }
            return (endServing(&state), affected)
        }
        guard let (arrivals, affected) = outcome else { return [] }
        client.metrics.subscriptionError(refusal.code, on: client)
        for resource in affected { resource.watchers.notify() }
        end()
        pool?.ended(self, affected)
        return arrivals
    }

    /// Reports a refusal to one resource, and then `unsubscribed` if it was subscribed.
    func report(_ refusal: UpstreamRefusal, to resource: SubscriptionResource) {
        let wasSubscribed = resource.status.isSubscribed
        pass(.failed(code: refusal.code, message: refusal.message), to: resource)
        if wasSubscribed { pass(.unsubscribed(isFinal: true), to: resource) }
    }

    /// Passes events to the resources, the last of which may be the end of the subscription. Returns the resources that move
    /// to this subscription and whose values have come, or all of them at its end, and the refusal that ended it.
    private func apply(
        _ events: some Collection<SubscriptionEvent>
    ) -> (arrivals: [SubscriptionResource], refusal: UpstreamRefusal?) {
        for case .failed(let code, _) in events { client.metrics.subscriptionError(code, on: client) }
        let number = client.isTransferable ? UInt64(clamping: client.core.notificationNumber) : 0
        let weight = subscription.valueWeight.load(ordering: .relaxed)
        var (arrivals, affected): ([SubscriptionResource], [SubscriptionResource]) = ([], [])
        var deliveries: [@Sendable () -> Void] = []
        var end: SubscriptionEvent?
        let isWithinBudget = state.withLock { state in
            if state.hasEnded { return true }
            if weight != state.countedBytes {
                let difference = weight - state.countedBytes
                state.countedBytes = weight
                guard client.values.add(difference) else { return false }
            }
            affected = state.resources
            let knowing = state.reported.isEmpty ? [] : knowing(&state)
            for event in events {
                switch event {
                case .failed, .unsubscribed(isFinal: true): end = end ?? event
                default: break
                }
                if !state.arriving.all.isEmpty {
                    arrivals += state.arriving.take(event, table, isInterrupted: isInterrupted)
                }
                for resource in affected {
                    if client.isTransferable, case .subscribed = event { offer(to: resource) }
                    resource.apply(event)
                    if case .update = event, knowing.contains(ObjectIdentifier(resource)) { continue }
                    if number > 0 {
                        client.sink.take(.subscription(resource.id, .event(event)), number: number)
                    } else if let delivery = client.sink.publish(event, of: resource.id) {
                        deliveries.append(delivery)
                    }
                }
            }
            if end != nil { arrivals = endServing(&state) }
            return true
        }
        // Without a lock: the deliveries write to the sockets of readers.
        for delivery in deliveries { delivery() }
        // The order is that of `Watchers.isEmpty`: the resource was changed before.
        for resource in affected where resource.watchers.count.load(ordering: .sequentiallyConsistent) > 0 {
            resource.watchers.notify()
        }
        guard isWithinBudget else { return exceedBudget(by: events) }
        guard let end else { return (arrivals, nil) }
        self.end()
        pool?.ended(self, affected)
        return (arrivals, UpstreamRefusal(end))
    }

    /// The subscription is over: no client carries its resources. Returns the resources that move to this subscription.
    private func endServing(_ state: inout State) -> [SubscriptionResource] {
        state.hasEnded = true
        for resource in state.resources { end(resource) }
        state.resources = []
        return state.arriving.removeAll()
    }

    /// The values that events have changed exceed the budget of the upstream: another subscription ends, and the events are
    /// passed to the resources, or this one ends.
    private func exceedBudget(
        by events: some Collection<SubscriptionEvent>
    ) -> (arrivals: [SubscriptionResource], refusal: UpstreamRefusal?) {
        guard let leaving = pool?.subscriptionToEnd(for: self), leaving !== self else { return leaveBudget() }
        let (arrivals, refusal) = leaving.leaveBudget()
        pool?.arrived(arrivals, at: leaving, refusal)
        return apply(events)
    }

    /// Refuses the subscription, because the values of the upstream exceed their budget.
    private func leaveBudget() -> (arrivals: [SubscriptionResource], refusal: UpstreamRefusal?) {
        // Not subscribed any more if it ends at the same time.
        defer { try? client.core.unsubscribe(subscription) }
        let refusal = client.values.refusal
        return (refuse(refusal), refusal)
    }
}
