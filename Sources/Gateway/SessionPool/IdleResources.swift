internal import Changes
internal import Primitives

/// The times at which a pool looks for clients and subscriptions that nothing has used for their time.
struct ExpiryCheck {
    /// How often subscriptions are looked at; there may be many.
    private static let interval = Duration.seconds(1)
    private var next = Moment.zero
    /// Whether the sink is looking for the streams of idle resources.
    var awaitsReads = false

    /// Whether subscriptions are to be looked at now.
    mutating func isDue(at now: Moment) -> Bool {
        defer { if next <= now { next = now + Self.interval } }
        return next <= now
    }
}

extension SessionPool {
    private static let mostEnding = 1000

    /// Ends dedicated clients, and subscriptions that requests have created, which nothing has used for their time. A stream of
    /// any process uses its sources to its end.
    func endUnused(at now: Moment, withSubscriptions: Bool) {
        if state.withLock({ $0.expiry.awaitsReads }) { return }
        let limit = settings.configuration.clientIdle
        let idle = clients().filter { $0.isDedicated && $0.isIdle(for: limit, at: now) }
        guard withSubscriptions || !idle.isEmpty else { return }
        var topics: [ClientID: [TopicID]] = [:]
        for client in idle { topics[client.id] = [.client(client.id)] }
        var subscriptions: [SubscriptionResource] = []
        for resource in state.withLock({ Array($0.resources.byID.values) }) where !resource.isImplicit {
            // A stream of a subscription uses its client.
            if case .dedicated(let client) = resource.home { topics[client]?.append(.subscription(resource.id)) }
            guard withSubscriptions, isIdle(resource, at: now), subscriptions.count < Self.mostEnding else { continue }
            subscriptions.append(resource)
        }
        let all = Set(topics.values.joined()).union(subscriptions.map { TopicID.subscription($0.id) })
        if all.isEmpty { return }
        state.withLock { $0.expiry.awaitsReads = true }
        sink.lastReads(of: Array(all)) { [weak self, topics, subscriptions] reads in
            self?.endUnused(idle, topics, subscriptions, reads)
        }
    }

    private func endUnused(
        _ clients: [PooledClient],
        _ topics: [ClientID: [TopicID]],
        _ subscriptions: [SubscriptionResource],
        _ reads: [TopicID: Moment]
    ) {
        let isStopping = state.withLock { state in
            state.expiry.awaitsReads = false
            return state.isStopping
        }
        if isStopping { return }
        let now = clock()
        for client in clients {
            if let last = topics[client.id]?.compactMap({ reads[$0] }).max() { client.touch(at: min(last, now)) }
            if client.isIdle(for: settings.configuration.clientIdle, at: now) { closeClient(client) }
        }
        for resource in subscriptions {
            if let last = reads[.subscription(resource.id)] { resource.touch(at: min(last, now)) }
            guard isIdle(resource, at: now) else { continue }
            logger.debug("subscription ended, because nothing used it", metadata: ["subscription": "\(resource.id)"])
            deleteResource(resource)
        }
    }

    /// Whether no request has used a subscription for its time. A request uses it as long as the request waits.
    private func isIdle(_ resource: SubscriptionResource, at now: Moment) -> Bool {
        let present = resource.present
        let lifetime = present.lifetime(settings.configuration.subscriptionIdle)
        if present.lastUsed + lifetime > now { return false }
        if resource.watchers.isEmpty { return true }
        resource.touch(at: now)
        return lifetime <= .zero
    }
}
