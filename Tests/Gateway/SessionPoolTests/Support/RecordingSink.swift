internal import SessionCore
internal import SessionPool
internal import Synchronization

/// Records the subscription resources of a pool, and the clients that carry them.
final class RecordingSink: PoolSink {
    struct State {
        var resources: Set<ResourceID> = []
        var carried: [ResourceID: ClientID] = [:]
        var changed: [SubscriptionProperties] = []
        var faults: [String] = []
        var clients: [ClientID: PooledClient] = [:]
        /// How many subscriptions the client had when it began to carry one.
        var subscriptionsBefore: [Int] = []
    }

    private let state = Mutex(State())

    /// The present state.
    var present: State { state.withLock { $0 } }

    func subscriptionAdded(_ resource: SubscriptionResource) {
        state.withLock { if !$0.resources.insert(resource.id).inserted { $0.faults.append("added twice") } }
    }

    func subscriptionChanged(_ resource: SubscriptionResource) {
        state.withLock { $0.changed.append(resource.properties) }
    }

    func subscription(_ resource: ResourceID, joined client: ClientID, present: ValueTable) {
        state.withLock { state in
            if !state.resources.contains(resource) { state.faults.append("an unknown subscription joined") }
            if let client = state.clients[client] { state.subscriptionsBefore.append(client.core.subscriptions.count) }
            if state.carried.updateValue(client, forKey: resource) != nil { state.faults.append("joined twice") }
        }
    }

    func subscriptionLeft(_ resource: ResourceID) {
        state.withLock { if $0.carried.removeValue(forKey: resource) == nil { $0.faults.append("left twice") } }
    }

    func subscriptionRemoved(_ resource: ResourceID) {
        state.withLock { state in
            if state.resources.remove(resource) == nil { state.faults.append("removed twice") }
            if state.carried[resource] != nil { state.faults.append("removed while carried") }
        }
    }

    func clientAdded(_ client: PooledClient) { state.withLock { $0.clients[client.id] = client } }

    func clientRemoved(_ client: ClientID) {}
    func client(_ client: ClientID, changedStatus status: ClientStatus) {}
    func client(_ client: ClientID, receivedServerError code: Int, message: String) {}
    func client(_ client: PooledClient, changedProperty property: String) {}
    func client(_ client: ClientID, message: String, ended outcome: MessageOutcome) {}
    func client(_ client: ClientID, emittedLegacy event: LegacyEvent) {}
    func client(_ client: ClientID, receivedBytes count: Int) {}
    func subscription(_ resource: ResourceID, becameActive isActive: Bool) {}
    func subscription(_: ResourceID, on _: ClientID, emitted _: SubscriptionEvent, notification _: Int) {}
    func subscription(_ resource: ResourceID, hasNumber number: Int) {}
    func clientAdopted(_ client: PooledClient) {}
    func client(_ client: ClientID, offers session: OfferedSession?) {}
    var ownsSessions: Bool { true }
}
