package import SessionCore

/// The credits of a pool that shares the limits of its upstreams with other processes.
extension SessionPool {
    /// The pool has no credits from now on, and needs them for what it opens.
    package func requireCredits() { state.withLock { $0.machine.requireCredits() } }

    /// The limits of an upstream.
    package func limits(of upstream: String) -> UpstreamCredits {
        guard let upstream = self.upstream(upstream) else { return .none }
        return UpstreamCredits(
            sessions: upstream.maxSessions,
            subscriptions: upstream.maxSubscriptions,
            items: upstream.maxItems
        )
    }

    /// The upstreams with credits.
    package var creditedUpstreams: [String] { state.withLock { $0.machine.credits?.names ?? [] } }

    /// What may be open on an upstream.
    package func credits(of upstream: String) -> UpstreamCredits {
        state.withLock { $0.machine.credits?.held(of: upstream) ?? .none }
    }

    /// Throws `creditsNeeded`, without effects, if credits are missing for an upstream subscription of this key.
    package func checkCredits(for key: SharedKey) throws(PoolError) {
        try state.withLock { state throws(PoolError) in try state.machine.check(key) }
    }

    /// Changes the credits of an upstream under the lock of the pool; `change` gets what is in use.
    @discardableResult
    package func changeCredits<Result: Sendable>(
        of upstream: String,
        _ change: (inout PoolCredits, _ used: UpstreamCredits) -> Result
    ) -> Result? {
        state.withLock { $0.machine.changeCredits(of: upstream, change) }
    }
}
