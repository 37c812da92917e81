internal import SessionCore

/// Sessions that a server refuses with an error that another attempt repeats: a wrong adapter set, wrong credentials.
extension SessionPool {
    /// How long a refusal is repeated without asking the server, so that its readers cause one attempt a minute at most.
    static let refusalTime = Duration.seconds(60)

    func sessionRefused(_ client: PooledClient, _ refusal: UpstreamRefusal) {
        if renewIfOutdated(client) { return }
        let until = clock() + Self.refusalTime
        let isOpen = state.withLock { state in
            guard let account = state.machine.session(of: client.id)?.account else { return false }
            state.refusals[account] = (refusal, client, until)
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
        state.withLock { $0.refusedMoves += moving.map { ($0.resource, $0.target, refusal) } }
    }

    /// Refuses clients with the subscriptions that they have, or that move to them.
    func end(_ refused: [(client: PooledClient, refusal: UpstreamRefusal)]) {
        for (client, refusal) in refused {
            for move in refuse(client, refusal) { arrived(move.resource, at: move.target, refusal, isOfSession: true) }
        }
    }

    /// The client of an upstream whose refusal is being repeated; nil: there is none.
    package func refusedClient(of upstream: String) -> PooledClient? {
        let now = clock()
        return state.withLock { state in
            state.refusals.first { $0.key.upstream == upstream && $0.value.until > now }?.value.client
        }
    }

    /// The refusal of a session with the account of a new client, if the last one was refused a short time ago.
    func recentRefusal(of client: PooledClient) -> UpstreamRefusal? {
        let now = clock()
        return state.withLock { state in
            guard let account = state.machine.session(of: client.id)?.account,
                let recent = state.refusals[account]
            else { return nil }
            if recent.until > now { return recent.refusal }
            state.refusals[account] = nil
            return nil
        }
    }
}

extension SessionKey {
    /// The account that the server accepts or refuses: upstream and credentials.
    fileprivate var account: SessionKey { SessionKey(upstream: upstream, user: user, password: password) }
}
