internal import SessionCore

/// Sessions that servers refuse, with the subscriptions that they have, or that move to them.
extension SessionPool {
    func sessionRefused(_ client: PooledClient, _ refusal: UpstreamRefusal) {
        if renewIfOutdated(client) { return }
        let now = clock()
        let isOpen = state.withLock { state in
            guard let session = state.machine.session(of: client.id) else { return false }
            state.refused.refused(client, of: session, refusal, at: now)
            return true
        }
        if isOpen { end([(client, refusal)]) }
    }

    /// Refuses the subscriptions of a client and removes it; the next request for one of them opens another client. Returns
    /// the resources that move to these subscriptions.
    private func refuse(
        _ client: PooledClient,
        _ refusal: UpstreamRefusal
    ) -> [(resource: SubscriptionResource, target: SharedSubscription)] {
        // No subscription is added to the client from now on.
        state.withLock { $0.machine.clientRemoved(client.id) }
        let moving = sharedSubscriptions(on: client).flatMap { target in
            target.refuse(refusal).map { (resource: $0, target: target) }
        }
        closeClient(client)
        return moving
    }

    /// Refuses the subscriptions of a client that was not connected, for a caller that holds the `changes` of a resource.
    /// Resources that move to these subscriptions are refused when the lock is free: at the next tick of the pool.
    func refuseLater(_ client: PooledClient, _ refusal: UpstreamRefusal) {
        let moving = refuse(client, refusal)
        state.withLock { $0.refused.add(moving.map { ($0.resource, $0.target, refusal) }) }
    }

    /// Refuses clients with the subscriptions that they have, or that move to them.
    func end(_ refused: [RefusedSessions.Refused]) {
        for (client, refusal) in refused {
            for move in refuse(client, refusal) { arrived(move.resource, at: move.target, refusal, isOfSession: true) }
        }
    }

    /// The client of an upstream that was refused by the last attempt, a while ago at most; nil: there is none.
    package func refusedClient(of upstream: String) -> PooledClient? {
        let now = clock()
        return state.withLock { $0.refused.client(of: upstream, at: now) }
    }

    /// The refusal of a session with the account of a new client, if the last one was refused a short time ago.
    func recentRefusal(of client: PooledClient) -> UpstreamRefusal? {
        let now = clock()
        return state.withLock { state in
            guard let session = state.machine.session(of: client.id) else { return nil }
            return state.refused.recentRefusal(of: session, at: now)
        }
    }
}
