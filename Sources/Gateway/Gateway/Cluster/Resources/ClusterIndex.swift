internal import EventHub
internal import Replication
internal import SessionCore
internal import SessionPool

/// A client or subscription of any member, as the log describes it: enough to decide which callers may see it.
struct IndexedResource: Sendable {
    /// Its kind.
    enum Kind: Sendable {
        /// A subscription that streams share.
        case shared(SubscriptionProperties)
        /// A subscription that a request created; `isDedicated`: on a dedicated client.
        case posted(SubscriptionProperties, isDedicated: Bool)
        /// A client of the pool of its member.
        case pooledClient
        /// A client that a request created.
        case dedicatedClient
    }

    /// The id.
    let id: String
    /// Its kind.
    let kind: Kind
    /// Its upstream; nil where the log does not contain it.
    let upstream: String?
    /// The identity of the caller that created it; nil: none.
    let owner: String?
    /// The position at which it was added.
    let madeAt: UInt64
}

extension ClusterNode {
    /// A client or subscription by its id; nil: there is none in the log.
    func indexed(_ id: String) -> IndexedResource? {
        state.withLock { state in
            guard let ledger = state.machine.ledger else { return nil }
            return ledger.indexedSubscription(id) ?? ledger.indexedClient(id)
        }
    }

    /// The ids of the subscriptions that meet a condition, in the order of creation.
    func subscriptionIDs(_ isIncluded: (IndexedResource) -> Bool) -> [String] {
        let all = state.withLock { state in
            state.machine.ledger.map { ledger in ledger.subscriptions.keys.compactMap(ledger.indexedSubscription) }
                ?? []
        }
        return Self.ordered(all.filter(isIncluded))
    }

    /// The ids of the clients that meet a condition, in the order of creation.
    func clientIDs(_ isIncluded: (IndexedResource) -> Bool) -> [String] {
        let all = state.withLock { state in
            state.machine.ledger.map { ledger in ledger.clients.keys.compactMap(ledger.indexedClient) } ?? []
        }
        return Self.ordered(all.filter(isIncluded))
    }

    private static func ordered(_ resources: [IndexedResource]) -> [String] {
        resources.sorted { ($0.madeAt, $0.id) < ($1.madeAt, $1.id) }.map(\.id)
    }
}

extension ClusterLedger {
    fileprivate func indexedSubscription(_ id: String) -> IndexedResource? {
        guard let view = subscriptions[id] else { return nil }
        if let topic = topics[id] {
            return IndexedResource(
                id: id,
                kind: .shared(view.properties),
                upstream: topic.key.upstream,
                owner: nil,
                madeAt: view.madeAt
            )
        }
        // Without a specification, its creation is not confirmed yet.
        guard let specification = specified[id]?.specification else { return nil }
        return IndexedResource(
            id: id,
            kind: .posted(view.properties, isDedicated: specification.group != id),
            upstream: specification.upstream,
            owner: specification.owner,
            madeAt: view.madeAt
        )
    }

    fileprivate func indexedClient(_ id: String) -> IndexedResource? {
        guard let client = clients[id] else { return nil }
        let specification = specified[id]?.specification
        return IndexedResource(
            id: id,
            kind: specification == nil ? .pooledClient : .dedicatedClient,
            upstream: specification?.upstream,
            owner: specification?.owner,
            madeAt: client.madeAt
        )
    }
}

extension Permissions {
    /// Whether a resource of any member may be visible to the caller; the member that owns it makes the final decision.
    func sees(_ resource: IndexedResource) -> Bool {
        if caller.rights.reachesOverAll { return true }
        switch resource.kind {
        case .shared(let properties):
            return caller.rights.covers(properties) && coversUpstream(of: resource)
        case .posted(let properties, let isDedicated):
            return caller.rights.covers(properties) && isOwn(resource.owner)
                && (isDedicated || coversUpstream(of: resource))
        case .pooledClient: return true
        case .dedicatedClient: return isOwn(resource.owner)
        }
    }

    private func coversUpstream(of resource: IndexedResource) -> Bool {
        resource.upstream.map { caller.rights.covers(upstream: $0) } ?? false
    }

    /// Refuses a source of a stream that another member owns. A source that the caller must not see is treated as
    /// unknown.
    func check(_ source: StreamSource, in cluster: ClusterNode) throws {
        switch source {
        case .subscription(let id):
            guard let resource = cluster.indexed(id), sees(resource) else { throw PoolError.unknownSubscription(id) }
        case .client(let id, _):
            guard let resource = cluster.indexed(id), sees(resource) else { throw PoolError.unknownClient(id) }
            if case .pooledClient = resource.kind, !caller.rights.reachesOverAll {
                throw Challenge.insufficient(.manage, "The events of a pooled client require all rights.")
            }
        }
    }
}
