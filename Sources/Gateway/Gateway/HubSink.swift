internal import EventHub
internal import Primitives
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// Converts the events of the pool into changes of the hub: one topic for each client and for each subscription
/// resource. A change is at most one event, and its application involves no decision.
struct HubSink: PoolSink {
    let hub: any ChangePublisher
    var owners = ResourceOwners()
    var upstreamMetrics = UpstreamMetrics()
    var clock: @Sendable () -> Moment = Moment.monotonic
    private let legacy = LegacyDerivations()

    init(
        hub: any ChangePublisher,
        owners: ResourceOwners = ResourceOwners(),
        upstreamMetrics: UpstreamMetrics = UpstreamMetrics()
    ) {
        self.hub = hub
        self.owners = owners
        self.upstreamMetrics = upstreamMetrics
    }

    // MARK: - Clients

    func clientAdded(_ client: PooledClient) {
        upstreamMetrics.added(client)
        let status = client.core.status
        legacy.add(client.id, status)
        hub.take(.clientAdded(client.id.rawValue, status))
    }

    func clientAdopted(_ client: PooledClient) {
        upstreamMetrics.added(client)
        legacy.add(client.id, client.core.status)
    }

    func client(_ client: ClientID, offers session: OfferedSession?) {
        hub.offer(session, of: client.rawValue)
    }

    var ownsSessions: Bool { hub.ownsSessions }

    func clientRemoved(_ client: ClientID) {
        hub.take(.clientRemoved(client.rawValue))
        legacy.remove(client)
        owners.forget(client)
        upstreamMetrics.removed(client)
    }

    func client(_ client: ClientID, changedStatus status: ClientStatus) {
        publish(.status(status), of: client)
    }

    func client(_ client: ClientID, receivedServerError code: Int, message: String) {
        upstreamMetrics.serverError(code, on: client)
        publish(.serverError(code: code, message: message), of: client)
    }

    func client(_ client: PooledClient, changedProperty property: String) {
        let value = ClientPropertyValue.json(property, of: client)
        let name = client.core.edition.propertyName(property)
        publish(.property(name: name, value: value), of: client.id)
    }

    func client(_ client: ClientID, message: String, ended outcome: MessageOutcome) {
        publish(.message(id: message, outcome), of: client)
    }

    func client(_ client: ClientID, emittedLegacy event: LegacyEvent) {
        publish(.legacy(LegacyStreamEvent(event)), of: client)
    }

    func client(_ client: ClientID, receivedBytes count: Int) {
        guard let event = legacy.received(bytes: count, on: client, at: clock()) else { return }
        hub.take(.event(.legacy(event), .client(client.rawValue)))
    }

    private func publish(_ event: HubEvent, of client: ClientID) {
        let topic = TopicID.client(client.rawValue)
        let derived = legacy.events(for: event, of: client)
        if derived.isEmpty {
            hub.take(.event(event, topic))
        } else {
            hub.take([.event(event, topic)] + derived.map { .event(.legacy($0), topic) })
        }
    }

    // MARK: - Subscriptions

    func subscriptionAdded(_ resource: SubscriptionResource) {
        hub.take(.subscriptionAdded(resource.id.rawValue, resource.properties))
    }

    func subscriptionChanged(_ resource: SubscriptionResource) {
        hub.take(.propertiesChanged(subscription: resource.id.rawValue, resource.properties))
    }

    func subscription(_ resource: ResourceID, becameActive isActive: Bool) {
        hub.take(.activity(subscription: resource.rawValue, isActive: isActive))
    }

    func subscription(_ resource: ResourceID, joined client: ClientID, present: ValueTable) {
        let id = resource.rawValue
        hub.take([.carried(subscription: id, by: client.rawValue)] + HubChange.events(of: id, from: present))
    }

    func subscriptionLeft(_ resource: ResourceID) {
        let id = resource.rawValue
        hub.take([.carried(subscription: id, by: nil), .activity(subscription: id, isActive: false)])
    }

    func subscription(
        _ resource: ResourceID,
        on client: ClientID,
        emitted event: SubscriptionEvent,
        notification: Int
    ) {
        upstreamMetrics.happened(event, on: client)
        let change = HubChange.event(.subscription(event), .subscription(resource.rawValue))
        if notification > 0 {
            hub.take(change, number: UInt64(notification))
        } else {
            hub.take(change)
        }
    }

    func subscription(_ resource: ResourceID, hasNumber number: Int) {
        hub.number(resource.rawValue, UInt64(clamping: number))
    }

    func subscriptionRemoved(_ resource: ResourceID) {
        hub.take(.subscriptionRemoved(resource.rawValue))
        owners.forget(resource)
    }
}

/// The derivation of legacy events for each client.
private final class LegacyDerivations: Sendable {
    private let state = Mutex<[ClientID: LegacyDerivation]>([:])

    func add(_ client: ClientID, _ status: ClientStatus) {
        state.withLock { $0[client] = LegacyDerivation(status: status) }
    }

    func remove(_ client: ClientID) { state.withLock { $0[client] = nil } }

    func events(for event: HubEvent, of client: ClientID) -> [LegacyStreamEvent] {
        state.withLock { $0[client]?.events(for: event) ?? [] }
    }

    func received(bytes count: Int, on client: ClientID, at now: Moment) -> LegacyStreamEvent? {
        state.withLock { $0[client]?.received(bytes: count, at: now) }
    }
}
