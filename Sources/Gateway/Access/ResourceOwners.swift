internal import SessionPool
internal import Synchronization

/// Who made which client and which subscription. What nobody had to say who they are for is not in it.
final class ResourceOwners: Sendable {
    private let owners = Mutex<[String: String]>([:])

    /// An empty book.
    init() {}

    /// Notes who made a client.
    func note(_ client: ClientID, madeBy caller: Caller) { note(client.rawValue, caller) }

    /// Notes who made a subscription.
    func note(_ resource: ResourceID, madeBy caller: Caller) { note(resource.rawValue, caller) }

    /// The identity of whoever made a client.
    func owner(of client: ClientID) -> String? { owners.withLock { $0[client.rawValue] } }

    /// The identity of whoever made a subscription.
    func owner(of resource: ResourceID) -> String? { owners.withLock { $0[resource.rawValue] } }

    /// A client is gone.
    func forget(_ client: ClientID) { owners.withLock { $0[client.rawValue] = nil } }

    /// A subscription is gone.
    func forget(_ resource: ResourceID) { owners.withLock { $0[resource.rawValue] = nil } }

    /// The number of entries.
    var count: Int { owners.withLock { $0.count } }

    private func note(_ id: String, _ caller: Caller) {
        guard let identity = caller.identity else { return }
        owners.withLock { $0[id] = identity }
    }
}
