internal import Changes

/// The callers that wait for changes of subscriptions, and the calls that are due.
struct SubscriptionWatches: Sendable {
    /// The calls for each subscription that is watched. Most changes have no watch, in a hub without any.
    private(set) var watches: [SubscriptionID: [UInt64: @Sendable () -> Void]] = [:]
    private(set) var due: [@Sendable () -> Void] = []
    private var next: UInt64 = 1

    /// Adds a watch of a subscription; the result removes it.
    mutating func add(_ subscription: SubscriptionID, _ changed: @escaping @Sendable () -> Void) -> UInt64 {
        defer { next += 1 }
        watches[subscription, default: [:]][next] = changed
        return next
    }

    mutating func remove(_ watch: UInt64, of subscription: SubscriptionID) {
        watches[subscription]?[watch] = nil
        if watches[subscription]?.isEmpty == true { watches[subscription] = nil }
    }

    /// A subscription has changed: the calls of its watches are due, once each.
    mutating func changed(_ subscription: SubscriptionID) {
        if let present = watches[subscription] { due += present.values }
    }

    /// The due calls, which are no longer due afterwards.
    mutating func takeDue() -> [@Sendable () -> Void] {
        defer { due = [] }
        return due
    }
}
