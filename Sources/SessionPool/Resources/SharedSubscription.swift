internal import LightstreamerClient
internal import SessionCore
internal import Synchronization

/// One upstream subscription and the resources that it serves.
///
/// Everything that happens to it is told to all of its resources under one lock, so that a resource which joins sees
/// the present values first and then each event, none twice and none left out.
final class SharedSubscription: Sendable {
    private struct Body {
        var resources: [SubscriptionResource] = []
        var state = SubscriptionState()
        var hasEnded = false
    }

    /// What the pool's machine calls it; nil on dedicated clients, where nothing is shared.
    let id: SharedID?
    let client: PooledClient
    let subscription: Subscription

    private let properties: SubscriptionProperties
    private let sink: any PoolSink
    private let ended: @Sendable (SharedSubscription) -> Void
    private let body = Mutex(Body())

    init(
        id: SharedID?,
        client: PooledClient,
        subscription: Subscription,
        properties: SubscriptionProperties,
        sink: any PoolSink,
        ended: @escaping @Sendable (SharedSubscription) -> Void
    ) {
        self.id = id
        self.client = client
        self.subscription = subscription
        self.properties = properties
        self.sink = sink
        self.ended = ended
    }

    /// Lets a resource take part from now on; false if the subscription has ended meanwhile.
    func join(_ resource: SubscriptionResource) -> Bool {
        body.withLock { body in
            if body.hasEnded { return false }
            body.resources.append(resource)
            resource.joined(self, state: body.state)
            sink.subscription(resource.id, joined: client.id, present: table)
            return true
        }
    }

    /// Ends a resource's part in it; the resource's last event is `unsubscribed`, if it was subscribed.
    func leave(_ resource: SubscriptionResource) {
        body.withLock { body in
            guard let index = body.resources.firstIndex(where: { $0 === resource }) else { return }
            body.resources.remove(at: index)
            if body.state.isSubscribed { tell(resource, .unsubscribed(isFinal: true)) }
            resource.left()
            sink.subscriptionLeft(resource.id)
        }
        resource.notifyWatchers()
    }

    /// The resources that take part now.
    var resources: [SubscriptionResource] { body.withLock { $0.resources } }

    /// The present values; nothing in them while the upstream is not subscribed.
    var table: ValueTable { subscription.valueTable ?? ValueTable(properties: properties) }

    private func tell(_ resource: SubscriptionResource, _ event: SubscriptionEvent) {
        resource.apply(event)
        sink.subscription(resource.id, on: client.id, emitted: event)
    }

    private func happened(_ event: SubscriptionEvent) {
        let (told, isOver) = body.withLock { body in
            body.state.apply(event)
            for resource in body.resources { tell(resource, event) }
            let told = body.resources
            guard event.isEnd else { return (told, false) }
            body.hasEnded = true
            for resource in body.resources {
                resource.left()
                sink.subscriptionLeft(resource.id)
            }
            body.resources = []
            return (told, true)
        }
        for resource in told { resource.notifyWatchers() }
        if isOver { ended(self) }
    }
}

extension SubscriptionEvent {
    /// Whether the subscription is no longer active after the event.
    fileprivate var isEnd: Bool {
        switch self {
        case .failed, .unsubscribed(isFinal: true): true
        default: false
        }
    }
}

extension SharedSubscription: SubscriptionDelegate {
    func subscriptionDidSubscribe(_ subscription: Subscription) {
        let table = table
        happened(
            .subscribed(
                itemCount: table.itemCount ?? 0,
                fieldCount: table.fieldCount ?? 0,
                keyPosition: table.keyPosition,
                commandPosition: table.commandPosition
            )
        )
    }

    func subscriptionDidUnsubscribe(_ subscription: Subscription) {
        happened(.unsubscribed(isFinal: !subscription.isActive))
    }

    func subscription(_ subscription: Subscription, didFailWithErrorCode code: Int, message: String?) {
        happened(.failed(code: code, message: message ?? ""))
    }

    func subscription(_ subscription: Subscription, didUpdateItem itemUpdate: ItemUpdate) {
        client.countUpdate()
        happened(.update(itemUpdate))
    }

    func subscription(_ subscription: Subscription, didEndSnapshotForItemName itemName: String?, itemPos: Int) {
        happened(.endOfSnapshot(itemPos: itemPos))
    }

    func subscription(_ subscription: Subscription, didClearSnapshotForItemName itemName: String?, itemPos: Int) {
        happened(.clearSnapshot(itemPos: itemPos))
    }

    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forItemName itemName: String?,
        itemPos: Int
    ) {
        happened(.lostUpdates(count: lostUpdates, itemPos: itemPos))
    }

    func subscription(
        _ subscription: Subscription,
        didLoseUpdates lostUpdates: Int,
        forCommandSecondLevelItemWithKey key: String
    ) {
        happened(.secondLevelLostUpdates(count: lostUpdates, key: key))
    }

    func subscription(
        _ subscription: Subscription,
        didFailWithErrorCode code: Int,
        message: String?,
        forCommandSecondLevelItemWithKey key: String
    ) {
        happened(.secondLevelFailed(code: code, message: message ?? "", key: key))
    }

    func subscription(_ subscription: Subscription, didReceiveRealFrequency frequency: RealMaxFrequency?) {
        happened(.realMaxFrequency(frequency))
    }
}
