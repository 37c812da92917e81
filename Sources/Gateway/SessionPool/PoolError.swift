/// The reason for which the pool refused a call.
package enum PoolError: Error, Equatable, Sendable {
    case unknownUpstream(String)
    case unknownClient(String)
    case unknownSubscription(String)
    /// The address is valid, but no allow-list entry covers it.
    case addressNotAllowed(String)
    case overQuota(PoolQuota)
    /// Credits of an upstream are missing. Not an error of a pool with all credits.
    case creditsNeeded(CreditShortage)
    /// The value of a property was refused; `property` is its REST name.
    case invalidValue(property: String, rule: String)
    /// A valid call that the present state does not allow.
    case lifecycle(rule: String)
    case stopping
}

package enum PoolQuota: Equatable, Sendable {
    /// All sessions of the upstream are open and full.
    case sessions(upstream: String, limit: Int)
    case subscriptions(upstream: String, limit: Int)
    case items(upstream: String, limit: Int)
    /// The server has as many sessions as the policy `BLOCK` allows.
    case sessionsPerServer(upstream: String, limit: Int)
    case dedicatedClients(limit: Int)
    case subscriptionResources(limit: Int)
}
