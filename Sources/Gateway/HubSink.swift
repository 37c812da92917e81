internal import EventHub
internal import SessionCore
internal import SessionPool

/// Carries what the pool tells into the hub: one topic for each client and for each subscription resource.
struct HubSink: PoolSink {
    let hub: EventHub
    var owners = ResourceOwners()
    var upstreamMetrics = UpstreamMetrics()

    func clientAdded(_ client: PooledClient) {
        upstreamMetrics.added(client)
        hub.addClient(client.id.rawValue, status: client.core.status)
    }

    func clientRemoved(_ client: ClientID) {
        hub.removeClient(client.rawValue)
        owners.forget(client)
        upstreamMetrics.removed(client)
    }

    func client(_ client: ClientID, changedStatus status: ClientStatus) {
        hub.publish(.status(status), to: .client(client.rawValue))
    }

    func client(_ client: ClientID, receivedServerError code: Int, message: String) {
        upstreamMetrics.serverError(code, on: client)
        hub.publish(.serverError(code: code, message: message), to: .client(client.rawValue))
    }

    func client(_ client: PooledClient, changedProperty property: String) {
        let value = ClientPropertyValue.json(of: property, client: client.core)
        hub.publish(.property(name: property, value: value), to: .client(client.id.rawValue))
    }

    func client(_ client: ClientID, message: String, ended outcome: MessageOutcome) {
        hub.publish(.message(id: message, outcome), to: .client(client.rawValue))
    }

    func client(_ client: ClientID, emittedLegacy event: LegacyEvent) {
        hub.publish(.legacy(LegacyStreamEvent(event)), to: .client(client.rawValue))
    }

    func client(_ client: ClientID, receivedBytes count: Int) {
        hub.publish(.legacy(.bytesReceived(count)), to: .client(client.rawValue))
    }

    func subscriptionAdded(_ resource: SubscriptionResource) {
        hub.addSubscription(resource.id.rawValue, properties: resource.properties)
    }

    func subscription(_ resource: ResourceID, becameActive isActive: Bool) {
        hub.setActive(isActive, subscription: resource.rawValue)
    }

    func subscription(_ resource: ResourceID, joined client: ClientID, present: ValueTable) {
        hub.carry(subscription: resource.rawValue, by: client.rawValue, present: present)
    }

    func subscriptionLeft(_ resource: ResourceID) {
        hub.release(subscription: resource.rawValue)
        hub.setActive(false, subscription: resource.rawValue)
    }

    func subscription(_ resource: ResourceID, on client: ClientID, emitted event: SubscriptionEvent) {
        upstreamMetrics.happened(event, on: client)
        hub.publish(.subscription(event), to: .subscription(resource.rawValue))
    }

    func subscriptionRemoved(_ resource: ResourceID) {
        hub.removeSubscription(resource.rawValue)
        owners.forget(resource)
    }
}
