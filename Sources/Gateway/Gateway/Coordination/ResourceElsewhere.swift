package import SessionCore
internal import SessionPool

/// A client or subscription of any gateway, as the other gateways know it: enough to decide which callers may see it.
package struct ResourceElsewhere: Sendable {
    package enum Kind: Sendable {
        /// A subscription that streams share.
        case shared(SubscriptionProperties)
        /// A subscription that a request created.
        case posted(SubscriptionProperties)
        case pooledClient
        /// A client that a request created.
        case dedicatedClient
    }

    package let id: String
    let kind: Kind
    /// The upstream of the resource; nil where the upstream is not known.
    let upstream: String?
    /// The identity of the caller that created the resource; nil: none.
    let owner: String?
    /// The place in the order of creation.
    package let madeAt: UInt64

    fileprivate var isClient: Bool {
        switch kind {
        case .pooledClient, .dedicatedClient: true
        case .shared, .posted: false
        }
    }

    package init(id: String, kind: Kind, upstream: String?, owner: String?, madeAt: UInt64) {
        self.id = id
        self.kind = kind
        self.upstream = upstream
        self.owner = owner
        self.madeAt = madeAt
    }
}

extension Permissions {
    /// Whether a resource of any gateway may be visible to the caller; the gateway that has it makes the final decision.
    package func sees(_ resource: ResourceElsewhere) -> Bool {
        if caller.rights.reachesOverAll { return true }
        switch resource.kind {
        case .shared(let properties): return covers(properties, of: resource.upstream)
        case .posted(let properties): return covers(properties, of: resource.upstream) && isOwn(resource.owner)
        case .pooledClient: return true
        case .dedicatedClient: return isOwn(resource.owner) && coversUpstream(of: resource)
        }
    }

    /// A client by address, with its subscriptions, requires all upstreams.
    private func coversUpstream(of resource: ResourceElsewhere) -> Bool {
        resource.upstream.map(sees(upstream:)) ?? caller.rights.coversAllUpstreams
    }

    /// Refuses a subscription that another gateway has. One that the caller must not see is treated as unknown.
    package func checkElsewhere(subscription id: String) throws {
        guard let resource = coordination.resourceElsewhere(id), !resource.isClient, sees(resource) else {
            throw PoolError.unknownSubscription(id)
        }
    }

    /// Refuses a client that another gateway has. One that the caller must not see is treated as unknown.
    package func checkElsewhere(client id: String) throws {
        guard let resource = coordination.resourceElsewhere(id), resource.isClient, sees(resource) else {
            throw PoolError.unknownClient(id)
        }
        let isPooled = if case .pooledClient = resource.kind { true } else { false }
        try checkEvents(ofClientUnderControl: !isPooled || caller.rights.reachesOverAll)
    }
}
