internal import Primitives
internal import SessionCore

/// The subscriptions and items that each caller uses, compared with the caller's quotas.
///
/// A caller uses the subscriptions that it made and those that its streams joined. A subscription counts once for a
/// caller, also when several of its streams share it. Callers without an account have no quotas.
package final class SubscriptionUsage: Sendable {
    struct Usage {
        /// For each subscription, the number of its uses and of its items.
        var held: [String: (count: Int, items: Int)] = [:]
        var items = 0
    }

    /// Called when a caller with credentials uses a subscription, with the number of its items and whenever that changes, and
    /// with nil when the caller no longer uses it. The changes of a subscription are reported in order.
    package typealias Observer = @Sendable (_ id: String, _ identity: String, _ items: Int?) -> Void

    let state = RankedMutex(State(), rank: .usage)

    struct State {
        /// By account.
        var usages: [String: Usage] = [:]
        var observer: Observer?
    }

    /// Sets the observer of all further changes.
    package func observe(_ observer: @escaping Observer) { state.withLock { $0.observer = observer } }

    /// Adds a subscription that a caller has made or joined. Throws 429, without adding it, if that would exceed a
    /// quota.
    func add(_ id: String, _ properties: SubscriptionProperties, for caller: Caller) throws(Problem) {
        guard let account = caller.account else { return }
        let (rights, items) = (caller.rights, properties.countedItems)
        try state.withLock { state throws(Problem) in
            // Changed in its place: a copy would take time for each subscription of the caller.
            if state.usages[account]?.held[id] != nil {
                state.usages[account]?.held[id]?.count += 1
                return
            }
            let (heldCount, heldItems) = state.usages[account].map { ($0.held.count, $0.items) } ?? (0, 0)
            if let limit = rights.maxSubscriptions, heldCount >= limit {
                throw Self.overQuota("subscriptions", limit, Caller.setting("maxSubscriptions", of: account))
            }
            if let limit = rights.maxItems, items > limit - heldItems {
                throw Self.overQuota("items", limit, Caller.setting("maxItems", of: account))
            }
            state.usages[account, default: Usage()].held[id] = (1, items)
            state.usages[account]?.items += items
            if caller.identity != nil { state.observer?(id, account, items) }
        }
    }

    /// Changes the number of items of a subscription that a caller has made. Throws 429 if that would exceed the quota.
    func change(_ id: String, to properties: SubscriptionProperties, for caller: Caller) throws(Problem) {
        guard let account = caller.account else { return }
        let items = properties.countedItems
        try state.withLock { state throws(Problem) in
            guard let used = state.usages[account]?.items, let present = state.usages[account]?.held[id] else { return }
            if let limit = caller.rights.maxItems, items > present.items, items - present.items > limit - used {
                throw Self.overQuota("items", limit, Caller.setting("maxItems", of: account))
            }
            state.usages[account]?.held[id] = (present.count, items)
            state.usages[account]?.items += items - present.items
            if caller.identity != nil { state.observer?(id, account, items) }
        }
    }

    /// Removes one use of a subscription; called once for each `add`.
    func remove(_ id: String, of account: String?) {
        guard let account else { return }
        state.withLock { state in
            guard let present = state.usages[account]?.held[id] else { return }
            if present.count > 1 {
                state.usages[account]?.held[id]?.count -= 1
                return
            }
            state.usages[account]?.held[id] = nil
            if !Caller.isAddress(account) { state.observer?(id, account, nil) }
            state.usages[account]?.items -= present.items
            if state.usages[account]?.held.isEmpty ?? false { state.usages[account] = nil }
        }
    }

    /// The subscriptions in use and their items, by account.
    var all: [String: (subscriptions: Int, items: Int)] {
        state.withLock { $0.usages.mapValues { ($0.held.count, $0.items) } }
    }

    /// The ids of the subscriptions in use, by account.
    package var held: [String: Set<String>] { state.withLock { $0.usages.mapValues { Set($0.held.keys) } } }

    /// A quota is used up, which a setting determines.
    package static func overQuota(_ what: String, _ limit: Int, _ setting: String) -> Problem {
        Problem(.overQuota, detail: "The quota of \(limit) \(what) of this caller is used up (\(setting)).")
    }
}

/// The number of open streams of each caller, compared with the caller's limit.
final class OpenStreamCounts: Sendable {
    private let counts = RankedMutex<[String: Int]>([:])

    /// Counts a stream that is about to open; false, without counting, if the caller has reached its limit.
    ///
    /// - Parameter isReplacing: The stream may replace a former stream, which counts until its end. Until then, the caller may
    ///   have one stream more than its limit.
    func add(_ caller: Caller, isReplacing: Bool) -> Bool {
        guard let identity = caller.identity else { return true }
        return counts.withLock { counts in
            let present = counts[identity, default: 0]
            if let limit = caller.rights.streams, present >= limit + (isReplacing ? 1 : 0) { return false }
            counts[identity] = present + 1
            return true
        }
    }

    /// Removes a stream that has ended from the count; called once for each `add` that returned true.
    func remove(_ caller: Caller) {
        guard let identity = caller.identity else { return }
        counts.withLock { counts in
            let left = counts[identity, default: 1] - 1
            counts[identity] = left > 0 ? left : nil
        }
    }

    /// The numbers of open streams by caller.
    var all: [String: Int] { counts.withLock { $0 } }

    /// The number of open streams of a caller.
    func count(_ caller: Caller) -> Int {
        caller.identity.map { identity in counts.withLock { $0[identity, default: 0] } } ?? 0
    }
}
