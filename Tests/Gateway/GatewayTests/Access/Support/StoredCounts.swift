import Synchronization

@testable import Gateway

// The sizes of tables that must stay bounded.

extension TicketStore {
    /// The number of stored hashes, including those of used tickets.
    var held: Int { state.withLock { $0.order.count } }

    /// The number of tickets that are not used yet.
    var count: Int { state.withLock { $0.entries.count } }

    /// The number of streams of used tickets.
    var streams: Int { state.withLock { $0.streams.count } }
}

extension TokenBuckets {
    /// The number of names that have a bucket.
    var count: Int { state.withLock { $0.buckets.count } }
}

extension SubscriptionUsage {
    /// The number of subscriptions and items that a caller uses.
    func count(_ identity: String) -> (subscriptions: Int, items: Int) {
        state.withLock { ($0.usages[identity]?.held.count ?? 0, $0.usages[identity]?.items ?? 0) }
    }
}

extension ResourceOwners {
    /// The number of entries.
    var count: Int { state.withLock { $0.owners.count } }
}

extension TimerQueue {
    /// The number of scheduled actions.
    var count: Int { state.withLock { $0.timers.actions.count } }
}

extension WaitingRequests {
    /// The number of waiting requests of a caller.
    func count(_ caller: String) -> Int { requests.withLock { $0.counts[caller] ?? 0 } }
}
