/// The quotas of one upstream, as far as the machine needs them.
package struct PoolLimits: Equatable, Sendable {
    let maxSessions: Int
    let maxSubscriptionsPerSession: Int
    let maxSubscriptions: Int
    let maxItems: Int

    /// The quotas of a configured upstream.
    package init(_ upstream: UpstreamConfiguration) {
        maxSessions = upstream.maxSessions
        maxSubscriptionsPerSession = upstream.maxSubscriptionsPerSession
        maxSubscriptions = upstream.maxSubscriptions
        maxItems = upstream.maxItems
    }
}
