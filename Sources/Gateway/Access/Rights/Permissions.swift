internal import EventHub
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// What one caller may see and do of what is there.
///
/// - What the pool holds in common, its clients and the subscriptions that streams join, is seen by everybody whose
///   rights cover the upstream and the items.
/// - What a request made, dedicated clients, subscriptions and streams, is seen and changed by its maker.
/// - Whoever has `manage` with all upstreams and all items sees and changes everything, the pool's clients included.
struct Permissions: Sendable {
    /// The caller.
    let caller: Caller
    /// Who made what.
    let owners: ResourceOwners
    /// Where the clients and subscriptions are.
    let pool: SessionPool

    private var rights: Rights { caller.rights }

    // MARK: - Seeing

    /// Whether an upstream is seen.
    func sees(upstream name: String) -> Bool { rights.covers(upstream: name) }

    /// Whether a client is seen.
    func sees(_ client: PooledClient) -> Bool {
        if controls(client) { return true }
        guard !client.isDedicated, let upstream = client.upstream else { return false }
        return rights.covers(upstream: upstream)
    }

    /// Whether a subscription is seen, with its values and events.
    func sees(_ resource: SubscriptionResource) -> Bool {
        if rights.reachesOverAll { return true }
        guard rights.covers(resource.properties) else { return false }
        switch resource.home {
        case .pooled(let session):
            guard rights.covers(upstream: session.upstream) else { return false }
            return resource.isImplicit || owns(resource)
        case .dedicated(let client):
            return owns(resource) && isOwn(owners.owner(of: client))
        }
    }

    /// Whether a stream is seen, and may be changed.
    func sees(_ stream: StreamResources.Entry) -> Bool { rights.reachesOverAll || isOwn(stream.owner) }

    // MARK: - Changing

    /// Whether a client may be changed: its options, its connection, its life.
    func controls(_ client: PooledClient) -> Bool {
        rights.reachesOverAll || (client.isDedicated && isOwn(owners.owner(of: client.id)))
    }

    /// Refuses an upstream that the rights do not cover. Whether there is one of the name makes no difference.
    func check(upstream name: String) throws(Problem) {
        guard rights.covers(upstream: name) else {
            throw Challenge.insufficient(nil, "The credentials do not cover the upstream \"\(name)\".")
        }
    }

    /// Refuses a server that is named by its address, or changed, to anybody whose rights stop at some upstreams.
    func checkAddress() throws(Problem) {
        guard rights.coversAllUpstreams else {
            throw Challenge.insufficient(nil, "To name a server the credentials have to cover all upstreams.")
        }
    }

    /// Refuses items that the rights do not cover.
    func check(_ properties: SubscriptionProperties) throws(Problem) {
        guard !rights.covers(properties) else { return }
        let sentence =
            properties.secondLevelFields == nil
            ? "The credentials do not cover all of these items."
            : "A second level brings items that the data name: the credentials have to cover all items."
        throw Challenge.insufficient(nil, sentence)
    }

    /// Refuses a source of a stream. What is not seen is treated as if it did not exist.
    func check(_ order: SourceSelector) throws {
        switch order {
        case .join(let upstream, let properties):
            try check(.subscribe)
            try check(upstream: upstream)
            try check(properties)
        case .existing(.subscription(let id)):
            try check(.read)
            guard let resource = pool.resource(ResourceID(id)), sees(resource) else {
                throw PoolError.unknownSubscription(id)
            }
        case .existing(.client(let id, _)):
            try check(.read)
            guard let client = pool.client(ClientID(id)), sees(client) else { throw PoolError.unknownClient(id) }
            // A pooled client's events hold the outcomes of others' messages, and the events of their subscriptions.
            guard controls(client) else {
                throw Challenge.insufficient(.manage, "The events of a client of the pool need all rights.")
            }
        }
    }

    /// Refuses what a right is missing for.
    func check(_ right: Right) throws(Problem) {
        guard rights.operations.contains(right) else {
            throw Challenge.insufficient(right, "The credentials do not allow to \(right.rawValue).")
        }
    }

    private func owns(_ resource: SubscriptionResource) -> Bool { isOwn(owners.owner(of: resource.id)) }

    private func isOwn(_ owner: String?) -> Bool { owner != nil && owner == caller.identity }
}

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
