/// The values of the subscriptions of an upstream, as shares of the callers that use them: the values of a subscription count for
/// its callers in equal parts. Callers without an account count as one caller.
struct ValueShares {
    private var users: [ObjectIdentifier: (subscription: SharedSubscription, callers: Set<String>)] = [:]

    /// Adds users of a subscription: the accounts of their callers; nil: callers without an account.
    mutating func add(_ subscription: SharedSubscription, usedBy accounts: Set<String>?) {
        users[ObjectIdentifier(subscription), default: (subscription, [])].callers.formUnion(accounts ?? [""])
    }

    /// The subscription that ends because a grown subscription exceeds the budget of the upstream: the largest subscription
    /// of the caller with the most values, or the grown subscription if only that caller, or nobody, uses the subscription.
    func subscriptionToEnd(for grown: SharedSubscription) -> SharedSubscription {
        var sums: [String: Int] = [:]
        var largest: [String: (part: Int, subscription: SharedSubscription)] = [:]
        for (subscription, callers) in users.values {
            let part = subscription.countedBytes / callers.count
            for caller in callers {
                sums[caller, default: 0] += part
                if part > largest[caller]?.part ?? -1 { largest[caller] = (part, subscription) }
            }
        }
        let most = sums.max { $0.value < $1.value }
        let callers = users[ObjectIdentifier(grown)]?.callers ?? []
        if callers.count < 2, callers.allSatisfy({ sums[$0] == most?.value }) { return grown }
        return most.flatMap { largest[$0.key]?.subscription } ?? grown
    }
}
