package import Changes
package import SessionCore
package import SessionPool

/// The resources that a request is about to use, within the limits of its caller, of the gateway and of the upstreams.
package enum ResourceUse: Sendable {
    /// The shared subscriptions among the sources of a stream of a caller.
    case sources([SourceSelector], of: Caller)
    /// A new subscription of the caller of the request.
    case newSubscription(SubscriptionID, SubscriptionProperties)
    case newClient(ClientID)
    case changedSubscription(SubscriptionID, SubscriptionProperties, of: Caller)
    case activation
}

/// A change of a resource of this gateway that other gateways may have to know.
package enum ResourceChange: Sendable {
    /// A prepared stream is no longer open.
    case streamClosed(String)
    /// A prepared stream was not opened in time.
    case streamExpired(String)
    case streamDeleted(String)
    /// This gateway no longer has a stream.
    case streamRemoved(String)
    /// This gateway no longer has a client or subscription.
    case resourceRemoved(String)
    /// A caller uses a subscription with a number of items; nil: the caller no longer uses it.
    case subscriptionUsed(String, identity: String, items: Int?)
}

/// A shared subscription that a stream joined.
package struct JoinedSubscription: Sendable {
    package let id: String
    package let upstream: String
    package let properties: SubscriptionProperties
    /// The subscription in the pool of this process; nil: another gateway may have it.
    let resource: SubscriptionResource?
    /// Whether the call of `join` has opened the subscription.
    let isOpened: Bool
    /// As how many sources the subscription counts in the memory of its stream. In a cluster, each stream has names of its own,
    /// which every member keeps.
    let countedSources: Int

    package init(
        id: String,
        upstream: String,
        properties: SubscriptionProperties,
        resource: SubscriptionResource?,
        isOpened: Bool
    ) {
        self.id = id
        self.upstream = upstream
        self.properties = properties
        self.resource = resource
        self.isOpened = isOpened
        countedSources = resource == nil ? properties.countedSources : 1
    }
}
