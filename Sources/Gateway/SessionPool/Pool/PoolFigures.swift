package import SessionCore

/// The figures of an upstream's pool at a moment.
package struct PoolFigures: Equatable, Sendable {
    /// Open pooled sessions.
    package var sessions = 0
    /// Shared upstream subscriptions, lingering ones included.
    package var subscriptions = 0
    /// Items of these subscriptions; a group counts as one.
    package var items = 0
    /// Users of these subscriptions.
    package var users = 0

    /// Figures; without arguments: nothing is open.
    package init(sessions: Int = 0, subscriptions: Int = 0, items: Int = 0, users: Int = 0) {
        self.sessions = sessions
        self.subscriptions = subscriptions
        self.items = items
        self.users = users
    }

    /// The credits that these take.
    package var used: UpstreamCredits {
        UpstreamCredits(sessions: sessions, subscriptions: subscriptions, items: items)
    }

    /// A subscription is opened, for one user.
    mutating func opened(_ key: SharedKey) {
        subscriptions += 1
        items += key.properties.countedItems
        users += 1
    }

    /// A subscription with this number of users is closed.
    mutating func closed(_ key: SharedKey, users count: Int) {
        subscriptions -= 1
        items -= key.properties.countedItems
        users -= count
    }
}

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

/// The credits of an upstream that a subscription needs and a pool does not have.
package struct CreditShortage: Equatable, Sendable {
    /// The upstream.
    package let upstream: String
    /// What is missing.
    package let missing: UpstreamCredits
    /// The credits of the pool at that time.
    package let held: UpstreamCredits
    /// Whether a session is missing that the pool can do without, because a present one has room.
    package let isOptional: Bool

    /// The error if the credits cannot be had: the first of the quotas whose free credits are less.
    package func refusal(free: UpstreamCredits, limits: UpstreamCredits) -> PoolError {
        if missing.subscriptions > free.subscriptions {
            return .overQuota(.subscriptions(upstream: upstream, limit: limits.subscriptions))
        }
        if missing.items > free.items { return .overQuota(.items(upstream: upstream, limit: limits.items)) }
        return .overQuota(.sessions(upstream: upstream, limit: limits.sessions))
    }
}
