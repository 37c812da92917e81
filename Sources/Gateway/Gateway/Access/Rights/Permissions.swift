package import Changes
internal import JSONText
internal import Primitives
package import SessionCore
package import SessionPool

/// The resources that a caller may see and change.
///
/// - Shared resources of the pool (its clients, and the subscriptions that streams join) are visible to callers whose
///   rights cover the upstream and the items.
/// - Resources made by a request (dedicated clients, subscriptions, streams) are visible to their owner, who may change
///   them.
/// - A caller with `manage`, all upstreams and all items sees and changes everything, including the pool's clients.
package struct Permissions: Sendable {
    let caller: Caller
    let owners: ResourceOwners
    let pool: SessionPool
    /// Other gateways may have further resources.
    let coordination: any Coordination
    let feeds: VisibleFeeds

    // MARK: - Covering

    /// Whether data of a subscription may be used: it is that of a public feed, or the rights cover it.
    ///
    /// - Parameter upstream: The upstream; nil for a server by address, which requires all upstreams.
    func covers(_ properties: SubscriptionProperties, of upstream: String?) -> Bool {
        if caller.rights.reachesOverAll { return true }
        guard let upstream else { return caller.rights.coversAllUpstreams && caller.rights.covers(properties) }
        if feeds.makePublic(properties, of: upstream) { return true }
        return caller.rights.covers(upstream: upstream) && caller.rights.covers(properties)
            && feeds.permit(properties, of: upstream, to: caller.rights)
    }

    /// The filter for the subscriptions of the clients among the sources of a stream; nil: all of them are covered.
    func filter(of sources: [StreamSource]) -> (any SubscriptionFilter)? {
        if caller.rights.coversAllSubscriptions { return nil }
        var upstreams: [ClientID: String] = [:]
        for case .client(let id, withSubscriptions: true) in sources {
            upstreams[id] = pool.client(id)?.upstream ?? coordination.resourceElsewhere(id.rawValue)?.upstream
        }
        return CoveredSubscriptions(permissions: self, upstreams: upstreams)
    }

    // MARK: - Seeing

    package func sees(upstream name: String) -> Bool {
        if caller.rights.reachesOverAll { return true }
        return caller.rights.covers(upstream: name) && feeds.permit(upstream: name, to: caller.rights)
    }

    package func sees(_ client: PooledClient) -> Bool { controls(client) || (!client.isDedicated && covers(client)) }

    /// Whether the rights cover what a client connects to. A client by address, or of another adapter set than that of its
    /// upstream, requires all upstreams.
    private func covers(_ client: PooledClient) -> Bool {
        guard !caller.rights.coversAllUpstreams else { return true }
        guard let name = client.upstream, sees(upstream: name) else { return false }
        let adapterSets = [client.core.connectionDetails.adapterSet, pool.settings.upstream(name)?.adapterSet]
        return !client.isDedicated || Set(adapterSets.map { $0.map { Array($0.utf8) } }).count == 1
    }

    /// Whether a subscription is visible, with its values and events.
    package func sees(_ resource: SubscriptionResource) -> Bool {
        if caller.rights.reachesOverAll { return true }
        // The owner first: to compare thousands of items with patterns takes milliseconds.
        switch resource.home {
        case .pooled(let session):
            return (resource.isImplicit || owns(resource)) && covers(resource.properties, of: session.upstream)
        case .dedicated(let id):
            guard owns(resource), let client = pool.client(id) else { return false }
            return covers(resource.properties, of: client.upstream) && controls(client)
        }
    }

    /// Whether streams of this owner may be visible. `sees(_:joinedAs:)` decides on the sources of each.
    package func sees(streamOf owner: String?) -> Bool { caller.rights.reachesOverAll || isOwn(owner) }

    /// Whether a source of a stream is visible, or has ended.
    ///
    /// - Parameter joined: The subscription if the stream has joined it.
    func sees(_ source: StreamSource, joinedAs joined: JoinedSubscription?) -> Bool {
        if let joined, joined.resource == nil { return covers(joined.properties, of: joined.upstream) }
        switch source {
        case .subscription(let id):
            if let resource = pool.resource(id) {
                if sees(resource) { return true }
                // A subscription that is deleted meanwhile has no owner any more.
                if !resource.isDeleted { return false }
            }
        case .client(let id, _): if let client = pool.client(id) { return sees(client) }
        }
        return coordination.resourceElsewhere(source.id).map(sees) ?? true
    }

    // MARK: - Holding

    /// Whether the caller may have a dedicated client of its own.
    func mayHold(_ client: PooledClient) -> Bool { caller.rights.operations.contains(.manage) && covers(client) }

    func mayHold(_ resource: SubscriptionResource) -> Bool {
        guard caller.rights.operations.contains(.subscribe) else { return false }
        switch resource.home {
        case .pooled(let session): return covers(resource.properties, of: session.upstream)
        case .dedicated(let id):
            return pool.client(id).map { covers($0) && covers(resource.properties, of: $0.upstream) } ?? false
        }
    }

    // MARK: - Changing

    /// Whether the options and the connection of a client may be changed, and the client deleted.
    func controls(_ client: PooledClient) -> Bool {
        caller.rights.reachesOverAll || (client.isDedicated && isOwn(owners.owner(of: client.id)) && covers(client))
    }

    /// Refuses an upstream that the rights do not cover, whether it exists or not.
    func check(upstream name: String) throws(Problem) {
        guard sees(upstream: name) else {
            let sentence = "The credentials do not cover the upstream \"\(name)\"."
            throw Challenge.insufficient(nil, sentence, uncovered: ["upstream"])
        }
    }

    /// Refuses a server address to callers whose rights do not cover all upstreams.
    func checkAddress() throws(Problem) {
        guard caller.rights.coversAllUpstreams else {
            let sentence = "A server address requires credentials that cover all upstreams."
            throw Challenge.insufficient(nil, sentence, uncovered: ["serverAddress"])
        }
    }

    /// Refuses a subscription that the rights do not cover, of an upstream that they cover.
    ///
    /// - Parameter upstream: The upstream; nil: a server by address.
    func check(_ properties: SubscriptionProperties, of upstream: String?) throws(Problem) {
        guard !covers(properties, of: upstream) else { return }
        let second = properties.secondLevelDataAdapter != nil ? "commandSecondLevelDataAdapter" : "dataAdapter"
        let (sentence, path): (String, [String]) =
            if caller.rights.covers(properties) {
                ("The credentials cover the data of some feeds only, and this is none of it.", [])
            } else if !caller.rights.coversAdapters(of: properties) {
                (
                    "The credentials do not cover this data adapter, or no selector: both require a right to data adapters.",
                    [properties.dataAdapter != nil ? "dataAdapter" : properties.selector != nil ? "selector" : second]
                )
            } else if let fields = properties.secondLevelFields {
                (
                    "A second level subscribes to items that the data names, so it requires credentials that cover all items.",
                    [NamePair.secondLevelFields.member(of: fields)]
                )
            } else if let (index, item) = caller.rights.firstUncovered(in: properties) {
                ("The credentials do not cover the item \"\(item)\".", ["items", "\(index)"])
            } else {
                ("The credentials do not cover all of these items.", ["itemGroup"])
            }
        throw Challenge.insufficient(nil, sentence, uncovered: path)
    }

    /// Refuses a source of a stream. A source that is not visible is treated as unknown.
    package func check(_ selector: SourceSelector) throws {
        switch selector {
        case .join(let upstream, let properties, _):
            if feeds.makePublic(properties, of: upstream) { return }
            try check(.subscribe)
            try check(upstream: upstream)
            try check(properties, of: upstream)
        case .existing(.subscription(let id)):
            try check(.read)
            guard let resource = pool.resource(id) else { return try checkElsewhere(subscription: id.rawValue) }
            guard sees(resource) else { throw PoolError.unknownSubscription(id.rawValue) }
        case .existing(.client(let id, _)):
            try check(.read)
            guard let client = pool.client(id) else { return try checkElsewhere(client: id.rawValue) }
            guard sees(client) else { throw PoolError.unknownClient(id.rawValue) }
            try checkEvents(ofClientUnderControl: controls(client))
        }
    }

    /// Refuses the events of a visible client. Those of a pooled client include the outcomes of messages and the subscriptions
    /// of other callers; those of any client include the changes of options and details, which may hold credentials.
    ///
    /// - Parameter isControlled: Whether the caller controls the client.
    func checkEvents(ofClientUnderControl isControlled: Bool) throws(Problem) {
        guard isControlled else {
            throw Challenge.insufficient(.manage, "The events of a pooled client require all rights.")
        }
        try check(.manage)
    }

    /// Refuses a caller without a right.
    func check(_ right: Right) throws(Problem) {
        if caller.isAnonymous { throw Challenge.missing() }
        guard caller.rights.operations.contains(right) else {
            throw Challenge.insufficient(right, "The credentials do not have the right \(right.rawValue).")
        }
    }

    private func owns(_ resource: SubscriptionResource) -> Bool { isOwn(owners.owner(of: resource.id)) }

    package func isOwn(_ owner: String?) -> Bool {
        guard let owner, let identity = caller.identity else { return false }
        return owner.hasSameBytes(as: identity)
    }
}

private struct CoveredSubscriptions: SubscriptionFilter {
    let permissions: Permissions
    /// The upstreams of the clients; those by address have none.
    let upstreams: [ClientID: String]

    func covers(_ properties: SubscriptionProperties, of client: ClientID) -> Bool {
        permissions.covers(properties, of: upstreams[client])
    }
}

extension SessionPool {
    /// The name of the upstream of a home; nil: a server by address.
    func upstream(of home: SubscriptionHome) -> String? {
        switch home {
        case .pooled(let session): session.upstream
        case .dedicated(let id): client(id)?.upstream
        }
    }
}

/// The owners of clients and subscriptions. Those of unauthenticated callers have no identity.
package final class ResourceOwners: Sendable {
    /// The subscriptions and items that callers use.
    package let usage = SubscriptionUsage()
    let state = RankedMutex(State())

    struct State {
        /// The owners of clients and subscriptions, by id.
        var owners: [String: Caller] = [:]
        /// The numbers of dedicated clients, by account.
        var clientCounts: [String: Int] = [:]
        var observer: (@Sendable (String) -> Void)?
    }

    /// Sets the observer of all further removals, which is called with the id of each client or subscription.
    package func observeRemovals(_ observer: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Sets the owner of a client. Throws 429 if the owner has its share of dedicated clients.
    ///
    /// - Parameter share: The most clients of one owner; nil: any number.
    func note(_ client: ClientID, madeBy caller: Caller, share: Int? = nil) throws(Problem) {
        guard let account = caller.account else { return }
        try state.withLock { state throws(Problem) in
            if let share, state.clientCounts[account, default: 0] >= share {
                throw SubscriptionUsage.overQuota("dedicated clients", share, "pool.maxDedicatedClientsPerCaller")
            }
            state.clientCounts[account, default: 0] += 1
            state.owners[client.rawValue] = caller
        }
    }

    /// Sets the owner of a subscription that is created next, so that the owner sees the subscription as soon as it exists. The
    /// subscription counts towards the owner's quotas. Throws 429 over a quota.
    package func note(
        _ id: SubscriptionID,
        _ properties: SubscriptionProperties,
        madeBy caller: Caller
    ) throws(Problem) {
        guard caller.account != nil else { return }
        try usage.add(id.rawValue, properties, for: caller)
        state.withLock { $0.owners[id.rawValue] = caller }
    }

    /// The identity of the owner of a client; nil if it has none.
    package func owner(of client: ClientID) -> String? { state.withLock { $0.owners[client.rawValue]?.identity } }

    package func owner(of resource: SubscriptionID) -> String? {
        state.withLock { $0.owners[resource.rawValue]?.identity }
    }

    /// The owner of a client or subscription, with the rights that it had when it made it.
    package func holder(of id: String) -> Caller { state.withLock { $0.owners[id] } ?? Caller() }

    /// Restores the rights that the owner of a client or subscription had when it made it.
    package func restore(_ id: String, madeBy caller: Caller) {
        state.withLock { state in
            state.owners[id]?.rights = caller.rights
            state.owners[id]?.verifiedBy = caller.verifiedBy
        }
    }

    /// Removes a client or subscription.
    package func forget(_ topic: TopicID) {
        switch topic {
        case .client(let id): forget(id)
        case .subscription(let id): forget(id)
        }
    }

    func forget(_ client: ClientID) {
        let observer = state.withLock { state in
            if let account = state.owners.removeValue(forKey: client.rawValue)?.account {
                let left = state.clientCounts[account, default: 1] - 1
                state.clientCounts[account] = left > 0 ? left : nil
            }
            return state.observer
        }
        observer?(client.rawValue)
    }

    func forget(_ resource: SubscriptionID) {
        let (owner, observer) = state.withLock { state in
            (state.owners.removeValue(forKey: resource.rawValue), state.observer)
        }
        usage.remove(resource.rawValue, of: owner?.account)
        observer?(resource.rawValue)
    }
}
