/// Numbers of sessions, subscriptions and items of one upstream: what may be open, what is open, or what is missing.
package struct UpstreamCredits: Sendable, Hashable {
    /// Sessions.
    package var sessions: Int
    /// Subscriptions.
    package var subscriptions: Int
    /// Items of the subscriptions; a group counts as one.
    package var items: Int

    /// Credits; without arguments: none.
    package init(sessions: Int = 0, subscriptions: Int = 0, items: Int = 0) {
        self.sessions = sessions
        self.subscriptions = subscriptions
        self.items = items
    }

    /// No credits.
    package static let none = UpstreamCredits()

    /// Whether these are no credits.
    package var isNone: Bool { self == .none }

    /// Whether each number is at least that of `other`.
    package func covers(_ other: UpstreamCredits) -> Bool {
        sessions >= other.sessions && subscriptions >= other.subscriptions && items >= other.items
    }

    /// The smaller of each two numbers.
    package func limited(to other: UpstreamCredits) -> UpstreamCredits { merged(with: other, min) }

    /// The sum of each two numbers.
    package static func + (left: UpstreamCredits, right: UpstreamCredits) -> UpstreamCredits {
        left.merged(with: right, +)
    }

    /// The difference of each two numbers, 0 instead of a negative one.
    package static func - (left: UpstreamCredits, right: UpstreamCredits) -> UpstreamCredits {
        left.merged(with: right) { max(0, $0 - $1) }
    }

    /// Adds each number of `right`.
    package static func += (left: inout UpstreamCredits, right: UpstreamCredits) { left = left + right }

    /// Subtracts each number of `right`, down to 0.
    package static func -= (left: inout UpstreamCredits, right: UpstreamCredits) { left = left - right }

    private func merged(with other: UpstreamCredits, _ merge: (Int, Int) -> Int) -> UpstreamCredits {
        UpstreamCredits(
            sessions: merge(sessions, other.sessions),
            subscriptions: merge(subscriptions, other.subscriptions),
            items: merge(items, other.items)
        )
    }
}

extension SubscriptionProperties {
    /// What the subscription takes of its upstream, beside a session.
    package var credits: UpstreamCredits { UpstreamCredits(subscriptions: 1, items: countedItems) }
}
