package import SessionCore

/// Where the pool hands on what its clients and subscriptions say.
///
/// Calls about one client, its subscriptions and its messages come one at a time, in the order in which they
/// happened. They come on the client's own task: an implementation must be quick and must not wait.
package protocol PoolSink: Sendable {
    /// A client exists from now on.
    func clientAdded(_ client: PooledClient)
    /// A client is gone; nothing follows for it.
    func clientRemoved(_ client: ClientID)
    /// The client's status is this from now on.
    func client(_ client: ClientID, changedStatus status: ClientStatus)
    /// The server refused or closed the client's session.
    func client(_ client: ClientID, receivedServerError code: Int, message: String)
    /// A property of the client has another value from now on.
    func client(_ client: PooledClient, changedProperty property: String)
    /// A message has its outcome.
    func client(_ client: ClientID, message: String, ended outcome: MessageOutcome)
    /// Something that only legacy listeners are told.
    func client(_ client: ClientID, emittedLegacy event: LegacyEvent)
    /// This many bytes came from the client's server.
    func client(_ client: ClientID, receivedBytes count: Int)

    /// A subscription resource exists from now on.
    func subscriptionAdded(_ resource: SubscriptionResource)
    /// The resource becomes active, or could not be carried after all; a client that carries it is told apart.
    func subscription(_ resource: ResourceID, becameActive isActive: Bool)
    /// The resource is carried by this client from now on; `present` are the values that it already has.
    func subscription(_ resource: ResourceID, joined client: ClientID, present: ValueTable)
    /// The resource is no longer carried by a client.
    func subscriptionLeft(_ resource: ResourceID)
    /// Something happened to the resource.
    func subscription(_ resource: ResourceID, on client: ClientID, emitted event: SubscriptionEvent)
    /// The resource is gone; nothing follows for it.
    func subscriptionRemoved(_ resource: ResourceID)
}
