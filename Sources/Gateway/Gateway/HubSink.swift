internal import Changes
internal import JSONText
internal import SessionCore
internal import SessionPool

/// Publishes the changes of the pool.
struct HubSink: PoolSink {
    let publisher: any ChangePublisher
    var owners = ResourceOwners()

    func take(_ change: Change) {
        publisher.take(change)
        forget(change)
    }

    func take(_ changes: [Change]) {
        publisher.take(changes)
        for change in changes { forget(change) }
    }

    func take(_ event: SubscriptionEvent, of subscription: SubscriptionID, notification: UInt64) {
        publisher.take(.subscription(subscription, .event(event)), number: notification)
    }

    func take(_ change: SessionChange) { publisher.take(change) }

    var events: any ChangeSink { publisher }

    var ownsSessions: Bool { publisher.ownsSessions }

    func shownValue(of property: String, on client: PooledClient) -> JSONValue? {
        ClientPropertyValue.json(property, of: client)
    }

    func lastFailure(of client: PooledClient) -> LastFailure? { TroubleText.lastFailure(of: client) }

    private func forget(_ change: Change) {
        switch change {
        case .client(let id, .removed): owners.forget(id)
        case .subscription(let id, .removed): owners.forget(id)
        case .client, .subscription: break
        }
    }
}
