/// What a stream can carry.
package enum StreamSource: Hashable, Sendable {
    /// The events of one subscription, and the `status` and `server-error` of the client that carries it.
    case subscription(String)
    /// A client's own events; with subscriptions, in their true order, also those of all its subscriptions, present
    /// and future.
    case client(String, withSubscriptions: Bool)

    /// The topic that the source is about.
    package var topic: TopicID {
        switch self {
        case .subscription(let id): .subscription(id)
        case .client(let id, _): .client(id)
        }
    }
}
