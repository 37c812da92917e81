package import SessionCore

/// Receives the events of the pool's clients and subscriptions.
///
/// Calls about one client, its subscriptions and its messages come one at a time, in the order in which they
/// happened. They come on the client's own task: an implementation must be quick and must not wait.
package protocol PoolSink: Sendable {
    /// A client was created.
    func clientAdded(_ client: PooledClient)
    /// A client was created that continues the session of another process, with its id and subscriptions.
    func clientAdopted(_ client: PooledClient)
    /// Another process can continue the present session of a client; nil: not, or no longer.
    func client(_ client: ClientID, offers session: OfferedSession?)
    /// Whether the sessions that other processes can continue still belong to this one.
    var ownsSessions: Bool { get }
    /// A client was removed; its last event.
    func clientRemoved(_ client: ClientID)
    /// The status of the client has changed.
    func client(_ client: ClientID, changedStatus status: ClientStatus)
    /// The server refused or closed the client's session.
    func client(_ client: ClientID, receivedServerError code: Int, message: String)
    /// A property of the client has changed.
    func client(_ client: PooledClient, changedProperty property: String)
    /// The outcome of a message is known.
    func client(_ client: ClientID, message: String, ended outcome: MessageOutcome)
    /// An event for legacy listeners only.
    func client(_ client: ClientID, emittedLegacy event: LegacyEvent)
    /// The number of bytes received from the client's server.
    func client(_ client: ClientID, receivedBytes count: Int)

    /// A subscription resource was created.
    func subscriptionAdded(_ resource: SubscriptionResource)
    /// The properties of the resource have changed.
    func subscriptionChanged(_ resource: SubscriptionResource)
    /// The resource becomes active, or its activation failed; the client that carries it is reported separately.
    func subscription(_ resource: ResourceID, becameActive isActive: Bool)
    /// The resource is carried by this client from now on; `present` holds the values that it has already.
    func subscription(_ resource: ResourceID, joined client: ClientID, present: ValueTable)
    /// The resource is no longer carried by a client.
    func subscriptionLeft(_ resource: ResourceID)
    /// An event of the resource.
    ///
    /// - Parameter notification: The number of the data notification that it comes from, in a session that another
    ///   process can continue; 0: it comes from none, or no process can.
    func subscription(
        _ resource: ResourceID,
        on client: ClientID,
        emitted event: SubscriptionEvent,
        notification: Int
    )
    /// The `LS_subId` of the resource in a session that another process can continue; followed by `subscribed`.
    func subscription(_ resource: ResourceID, hasNumber number: Int)
    /// The resource was deleted; its last event.
    func subscriptionRemoved(_ resource: ResourceID)
}

/// The reason for which the pool refused a call.
package enum PoolError: Error, Equatable, Sendable {
    /// No upstream of this name is configured.
    case unknownUpstream(String)
    /// No client has this id.
    case unknownClient(String)
    /// No subscription has this id.
    case unknownSubscription(String)
    /// The address is valid, but no allow-list entry covers it.
    case addressNotAllowed(String)
    /// A quota is used up.
    case overQuota(PoolQuota)
    /// Credits of an upstream are missing. Not an error of a pool with all credits.
    case creditsNeeded(CreditShortage)
    /// The value of a property was refused; `property` is its REST name.
    case invalidValue(property: String, rule: String)
    /// A valid call that the present state does not allow.
    case lifecycle(rule: String)
    /// The pool is stopping.
    case stopping
}

/// The quotas of the pool, each with its limit.
package enum PoolQuota: Equatable, Sendable {
    /// All sessions of the upstream are open and full.
    case sessions(upstream: String, limit: Int)
    /// Too many subscriptions on the upstream.
    case subscriptions(upstream: String, limit: Int)
    /// Too many items on the upstream.
    case items(upstream: String, limit: Int)
    /// The server has as many sessions as the policy `BLOCK` allows.
    case sessionsPerServer(upstream: String, limit: Int)
    /// Too many dedicated clients.
    case dedicatedClients(limit: Int)
    /// Too many subscription resources.
    case subscriptionResources(limit: Int)
}
