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
        /// The resources that move to this subscription.
        var arriving: [Arrival] = []
        var hasEnded = false
        /// The size of the values that the budget of the upstream contains.
        var countedBytes = 0
    }

    /// Its id in the pool's machine; nil on dedicated clients, where nothing is shared.
    let id: SharedID?
    let client: PooledClient
    let subscription: Subscription

    private let properties: SubscriptionProperties
    let sink: any PoolSink
    private let metrics: UpstreamMetrics
    private let values: UpstreamValues
    private let ended: @Sendable (SharedSubscription) -> Void
    /// Called with the resources that move to this subscription and whose values have come, and with the refusal of the
    /// subscription; nil: it was not refused.
    private let arrived: @Sendable ([SubscriptionResource], UpstreamRefusal?) -> Void
    let state = RankedMutex(State(), rank: .sharedSubscription)

    init(
        id: SharedID?,
        client: PooledClient,
        subscription: Subscription,
        properties: SubscriptionProperties,
        sink: any PoolSink,
        metrics: UpstreamMetrics,
        values: UpstreamValues,
        arrived: @escaping @Sendable ([SubscriptionResource], UpstreamRefusal?) -> Void,
        ended: @escaping @Sendable (SharedSubscription) -> Void
    ) {
        self.id = id
        self.client = client
        self.subscription = subscription
        self.properties = properties
        self.sink = sink
        self.metrics = metrics
        self.values = values
        self.arrived = arrived
        self.ended = ended
    }

    /// Adds a resource; false if the subscription has ended meanwhile.
    func join(_ resource: SubscriptionResource) -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            state.resources.append(resource)
            begin(resource)
            return true
        }
    }

    /// Adds the resource of a subscription that is adopted with its session and these values: a sink knows them
    /// already.
    func adopt(_ resource: SubscriptionResource, _ table: ValueTable) {
        state.withLock { state in
            state.resources.append(resource)
            resource.joined(self, table)
        }
    }

    /// Removes a resource, whose last event is `unsubscribed` if it was subscribed.
    func leave(_ resource: SubscriptionResource) {
        state.withLock { state in
            guard let index = state.resources.firstIndex(where: { $0 === resource }) else { return }
            state.resources.remove(at: index)
            if resource.status.isSubscribed { pass(.unsubscribed(isFinal: true), to: resource, notification: 0) }
            resource.left()
            sink.take(Self.leaving(resource))
        }
        resource.notifyWatchers()
    }

    /// Accepts no further resources and receives no further events. The resources that were expected stay where they are.
    ///
    /// The subscription and its observer refer to each other: without this, neither is ever released.
    func end() {
        let arriving = state.withLock { state in
            state.hasEnded = true
            _ = values.add(-state.countedBytes)
            state.countedBytes = 0
            defer { state.arriving = [] }
            return state.arriving
        }
        for arrival in arriving where arrival.resource.moveTarget === self { _ = arrival.resource.endMove() }
        subscription.removeObserver(self)
    }

    /// Reports to the sink that a resource joins now; no effect if the subscription does not serve the resource.
    func reportAgain(_ resource: SubscriptionResource) {
        state.withLock { state in
            guard state.resources.contains(where: { $0 === resource }) else { return }
            sink.take(joining(resource, table))
        }
    }

    /// The resources that the subscription serves now.
    var resources: [SubscriptionResource] { state.withLock { $0.resources } }

    /// The present values; empty while the subscription is not subscribed upstream.
    var table: ValueTable {
        guard let table = subscription.valueTable else { return ValueTable(properties: properties) }
        return table
    }

    func pass(_ event: SubscriptionEvent, to resource: SubscriptionResource, notification: UInt64) {
        resource.apply(event)
        if notification > 0 {
            sink.take(.subscription(resource.id, .event(event)), number: notification)
        } else {
            sink.take(.subscription(resource.id, .event(event)))
        }
    }

    /// Gives the present values to a resource that was added, and reports them.
    func begin(_ resource: SubscriptionResource) {
        let table = table
        resource.joined(self, table)
        sink.take(joining(resource, table))
    }

    /// The changes of a resource that joins: the client carries it, then the present values.
    private func joining(_ resource: SubscriptionResource, _ table: ValueTable) -> [Change] {
        var changes = [Change.subscription(resource.id, .carried(by: client.id))]
        for event in table.eventsFromStart { changes.append(.subscription(resource.id, .event(event))) }
        return changes
    }

    static func leaving(_ resource: SubscriptionResource) -> [Change] {
        [.subscription(resource.id, .carried(by: nil)), .subscription(resource.id, .activity(isActive: false))]
    }

    /// Reports what another process needs to continue the subscription of a transferable client. Called before its
    /// `subscribed`.
    private func offer(to resource: SubscriptionResource) {
        if properties.secondLevelFields == nil, let number = subscription.number {
            sink.take(.numbered(resource.id, UInt64(clamping: number)))
        } else {
            client.withdrawOffer()
        }
    }
}

extension SharedSubscription: SubscriptionObserver {
    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) {
        if case .update = event {
            take(event, weight: subscription.valueWeight.load(ordering: .relaxed))
        } else if case .unsubscribed(isFinal: true) = event, let removal = UpstreamRefusal(event) {
            take([.failed(code: removal.code, message: removal.message), event])
        } else {
            take(CollectionOfOne(event))
        }
    }

    /// The server has refused the session of a pooled client: the subscription is refused with the same error. Returns the
    /// resources that move to this subscription.
    func refuse(_ refusal: UpstreamRefusal) -> [SubscriptionResource] {
        apply(CollectionOfOne(.failed(code: refusal.code, message: refusal.message)))
    }

    /// The result of an update.
    private enum UpdateOutcome {
        /// The resources have it. The calls that have it delivered are made without a lock.
        case passed([SubscriptionResource], [@Sendable () -> Void])
        /// Resources wait for the values of the subscription.
        case awaited
        /// The values exceed the budget of the upstream.
        case tooLarge
    }

    /// Passes an update to the resources, after which the values of the subscription have a weight.
    private func take(_ update: SubscriptionEvent, weight: Int) {
        let notification = client.isTransferable ? UInt64(clamping: client.core.notificationNumber) : 0
        let outcome = state.withLock { state -> UpdateOutcome in
            if state.hasEnded { return .passed([], []) }
            if weight != state.countedBytes {
                let difference = weight - state.countedBytes
                state.countedBytes = weight
                guard values.add(difference) else { return .tooLarge }
            }
            guard state.arriving.isEmpty else { return .awaited }
            var deliveries: [@Sendable () -> Void] = []
            for resource in state.resources {
                // Nearly all events are updates, and take no lock here. The order is that of `Watchers.isEmpty`.
                resource.updates.wrappingAdd(1, ordering: .sequentiallyConsistent)
                if resource.isMoving.load(ordering: .relaxed) { resource.applyToMove(update) }
                if notification > 0 {
                    sink.take(.subscription(resource.id, .event(update)), number: notification)
                } else if let delivery = sink.publish(update, of: resource.id) {
                    deliveries.append(delivery)
                }
            }
            return .passed(state.resources, deliveries)
        }
        switch outcome {
        case .passed(let resources, let deliveries):
            for delivery in deliveries { delivery() }
            for resource in resources where resource.watchers.count.load(ordering: .sequentiallyConsistent) > 0 {
                resource.notifyWatchers()
            }
        case .awaited:
            take(CollectionOfOne(update))
        case .tooLarge:
            take(CollectionOfOne(values.refusal()))
            // Not subscribed any more if it ends at the same time.
            try? client.core.unsubscribe(subscription)
        }
    }

    private func take(_ events: some Collection<SubscriptionEvent>) {
        let arrivals = apply(events)
        if !arrivals.isEmpty { arrived(arrivals, events.lazy.compactMap { UpstreamRefusal($0) }.first) }
    }

    /// Passes events to the resources, the last of which may be the end of the subscription. Returns the resources that move
    /// to this subscription and whose values have come, or all of them at its end.
    private func apply(_ events: some Collection<SubscriptionEvent>) -> [SubscriptionResource] {
        let notification = client.isTransferable ? UInt64(clamping: client.core.notificationNumber) : 0
        for case .failed(let code, _) in events { metrics.subscriptionError(code, on: client) }
        let (affected, arrivals, isOver) = state.withLock {
            state -> ([SubscriptionResource], [SubscriptionResource], Bool) in
            if state.hasEnded { return ([], [], false) }
            var arrivals: [SubscriptionResource] = []
            var isOver = false
            for event in events {
                switch event {
                case .failed, .unsubscribed(isFinal: true): isOver = true
                default: break
                }
                for index in state.arriving.indices where state.arriving[index].take(event, table) {
                    arrivals.append(state.arriving[index].resource)
                }
                for resource in state.resources {
                    if client.isTransferable, case .subscribed = event { offer(to: resource) }
                    pass(event, to: resource, notification: notification)
                }
            }
            let affected = state.resources
            guard isOver else { return (affected, arrivals, false) }
            state.hasEnded = true
            arrivals = state.arriving.map(\.resource)
            state.arriving = []
            for resource in state.resources {
                resource.left()
                sink.take(Self.leaving(resource))
            }
            state.resources = []
            return (affected, arrivals, true)
        }
        for resource in affected { resource.notifyWatchers() }
        if isOver {
            end()
            ended(self)
        }
        return arrivals
    }
}
