internal import Changes
internal import OrderedCollections
internal import Primitives

/// The subscription resources of a pool, and the readers of the implicit ones.
struct ResourceTable {
    private(set) var byID: [SubscriptionID: SubscriptionResource] = [:]
    /// The implicit resources that further readers can join.
    private(set) var implicit: [SharedKey: SubscriptionResource] = [:]
    private var readers: [SubscriptionID: Int] = [:]
    /// The ends of the lingers of active implicit resources without readers.
    private var lingers: [SubscriptionID: Moment] = [:]
    /// The resources whose sessions were closed, and that no other session could take.
    private(set) var unserved: [SubscriptionResource] = []
    /// The place of the next resource among all resources.
    private(set) var nextOrdinal: UInt64 = 1

    mutating func insert(_ resource: SubscriptionResource) {
        nextOrdinal += 1
        byID[resource.id] = resource
        if resource.isImplicit, let key = Self.key(of: resource) { implicit[key] = resource }
    }

    /// Adds a reader of an implicit resource; true for the first one.
    @discardableResult
    mutating func addReader(of resource: SubscriptionResource) -> Bool {
        readers[resource.id, default: 0] += 1
        lingers[resource.id] = nil
        return readers[resource.id] == 1
    }

    /// Removes a reader of an implicit resource; true if none is left.
    mutating func removeReader(of resource: SubscriptionResource) -> Bool {
        readers[resource.id, default: 1] -= 1
        return readers[resource.id, default: 0] <= 0
    }

    /// An implicit resource without readers stays until then, if the upstream subscription does not end before.
    mutating func linger(_ resource: SubscriptionResource, until end: Moment) { lingers[resource.id] = end }

    /// Withdraws the resources whose lingers are over, and returns these.
    mutating func withdrawLingering(at now: Moment) -> [SubscriptionResource] {
        lingers.filter { $0.value <= now }.compactMap { byID[$0.key] }.filter { withdraw($0) }
    }

    /// Makes an implicit resource without readers unavailable to new ones; false if it has readers.
    mutating func withdraw(_ resource: SubscriptionResource) -> Bool {
        guard resource.isImplicit, readers[resource.id, default: 0] <= 0 else { return false }
        lingers[resource.id] = nil
        if let key = Self.key(of: resource), implicit[key] === resource { implicit[key] = nil }
        return true
    }

    mutating func keepUnserved(_ resource: SubscriptionResource) { unserved.append(resource) }

    mutating func takeUnserved() -> [SubscriptionResource] {
        defer { unserved = [] }
        return unserved
    }

    mutating func remove(_ resource: SubscriptionResource) {
        readers[resource.id] = nil
        _ = withdraw(resource)
        byID[resource.id] = nil
    }

    private static func key(of resource: SubscriptionResource) -> SharedKey? {
        guard case .pooled(let session) = resource.home else { return nil }
        return SharedKey(session: session, properties: resource.properties)
    }
}

/// The clients of a pool, and the shared subscriptions that they carry.
struct ClientTable {
    /// Oldest first.
    private(set) var byID: OrderedDictionary<ClientID, PooledClient> = [:]
    private(set) var shared: [SharedID: SharedSubscription] = [:]
    /// The id of the next pooled client.
    private(set) var nextID = ClientID(RandomID.make(prefix: "c"))

    @discardableResult
    mutating func insert(_ client: PooledClient) -> PooledClient {
        if client.id == nextID { nextID = ClientID(RandomID.make(prefix: "c")) }
        byID[client.id] = client
        return client
    }

    mutating func insert(_ subscription: SharedSubscription, _ id: SharedID) { shared[id] = subscription }

    mutating func remove(_ client: PooledClient) { byID[client.id] = nil }

    @discardableResult
    mutating func remove(_ id: SharedID) -> SharedSubscription? { shared.removeValue(forKey: id) }
}
