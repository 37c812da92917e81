internal import Changes
internal import Gateway
internal import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// The limits of upstreams on all members together. A member opens sessions and subscriptions with credits that the log
/// has given it, so a request waits only if they do not suffice: see the decision record *SharedCredits*.
extension ClusterNode {
    enum CreditDecision: Sendable {
        /// There are more: what needs them can be tried again. `ended` is called after that.
        case given(ended: @Sendable () -> Void)
        /// There are none, on any member.
        case refused(PoolError)
        /// The decision is not known in time.
        case unknown
    }

    struct CreditRequest: Sendable {
        let shortage: CreditShortage
        let done: @Sendable (CreditDecision) -> Void
    }

    /// For how long credits are unused before they are released.
    private static let idleTime = Duration.seconds(10)

    // MARK: - Claims

    /// Claims credits that the pool does not have, and calls back with the decision of the log.
    func obtain(_ shortage: CreditShortage, _ done: @escaping @Sendable (CreditDecision) -> Void) {
        shared.withLock { shared in
            shared.credits.add(
                CreditRequest(shortage: shortage, done: done),
                missing: shortage.missing,
                isOptional: shortage.isOptional,
                of: shortage.upstream
            )
        }
        claimCredits(of: shortage.upstream)
    }

    private func claimCredits(of upstream: String) {
        let limits = pool?.settings.limits(of: upstream) ?? .none
        guard let claim = shared.withLock({ $0.credits.nextClaim(of: upstream, limits: limits) }) else { return }
        // In a new epoch, the other members declare the credits that they have before new ones are given.
        whenComplete { [self] isComplete in
            guard isComplete else { return decided(claim, nil) }
            decide(.credits(claim.number), by: .credit(.claim(claim))) { [self] in decided(claim, $0) }
        }
    }

    private func decided(_ claim: CreditClaim, _ outcome: RecordOutcome?) {
        switch outcome {
        case .accepted:
            for waiting in shared.withLock({ $0.credits.accepted(claim) }) {
                waiting.request.done(
                    .given { [self] in shared.withLock { $0.credits.ended(waiting.missing, of: claim.upstream) } }
                )
            }
        case .refused:
            let refused = shared.withLock { $0.credits.refused(claim) }
            if claim.isOptional {
                pool?.changeCredits(of: claim.upstream) { credits, _ in credits.sessionsRefused(of: claim.upstream) }
            }
            let free = state.withLock { $0.machine.ledger?.credits[claim.upstream].free } ?? .none
            let held = pool?.credits(of: claim.upstream)
            for waiting in refused {
                let shortage = waiting.request.shortage
                // The pool may have got credits after it has reported the shortage.
                let isObsolete = claim.isOptional || shortage.held != held
                let error = shortage.refusal(free: free, limits: claim.limits)
                waiting.request.done(isObsolete ? .given(ended: {}) : .refused(error))
            }
            claimCredits(of: claim.upstream)
        default:
            for waiting in shared.withLock({ $0.credits.undecided(claim) }) { waiting.request.done(.unknown) }
        }
    }

    // MARK: - Credits of this member

    /// The credits of this member for each upstream that is configured or still used, ordered by name.
    var heldCredits: [(upstream: String, held: UpstreamCredits)] {
        guard let pool else { return [] }
        let names = Set(pool.settings.upstreams.map(\.name)).union(pool.creditedUpstreams)
        return names.sorted().map { ($0, pool.credits(of: $0)) }
    }

    func credit(_ upstream: String, _ given: UpstreamCredits) {
        pool?.changeCredits(of: upstream) { credits, _ in credits.add(given, of: upstream) }
    }

    /// Another member needs credits: releases the unused ones.
    func releaseUnusedCredits(_ upstream: String, claim: UInt64) {
        write(.credit(.release(upstream: upstream, takeUnusedCredits(of: upstream), claim: claim)))
    }

    func releaseUnusedCredits(of upstream: String) {
        let unused = takeUnusedCredits(of: upstream)
        if !unused.isNone { write(.credit(.release(upstream: upstream, unused))) }
    }

    private func takeUnusedCredits(of upstream: String) -> UpstreamCredits {
        let reserved = shared.withLock { $0.credits.reserved(of: upstream) }
        let unused = pool?.changeCredits(of: upstream) { credits, used in
            credits.takeUnused(of: upstream, used: used, reserved: reserved)
        }
        return unused ?? .none
    }

    /// Claims what the subscriptions need that a reload has left without a session.
    func claimForUnserved(in pool: SessionPool) {
        for shortage in pool.shortages {
            // The pool tries the subscriptions again at its next tick.
            obtain(shortage) { if case .given(let ended) = $0 { ended() } }
        }
    }

    /// Releases credits that have not been used for a while, and claims those that subscriptions have waited for.
    func releaseIdleCredits(at now: Moment) {
        guard generation != nil, shared.withLock({ $0.credits.endsInterval(Self.idleTime, at: now) }), let pool
        else { return }
        for upstream in pool.creditedUpstreams {
            let reserved = shared.withLock { $0.credits.reserved(of: upstream) }
            let idle = pool.changeCredits(of: upstream) { credits, used in
                credits.takeIdle(of: upstream, used: used, reserved: reserved)
            }
            if let idle, !idle.isNone { write(.credit(.release(upstream: upstream, idle))) }
        }
        claimForUnserved(in: pool)
    }

    /// Keeps only the credits that are in use, because other members may have the rest.
    func keepUsedCredits() {
        guard let pool else { return }
        for (upstream, _) in heldCredits {
            pool.changeCredits(of: upstream) { credits, used in credits.keep(used: used, of: upstream) }
        }
    }

    /// Declares all credits, after this member has joined under another number or in another epoch.
    func declareCredits() {
        guard let pool else { return }
        for upstream in pool.creditedUpstreams { declare(pool.credits(of: upstream), of: upstream) }
    }

    /// Declares what is open beyond the credits: a session that this member has adopted.
    func coverUse(of upstream: String) {
        let missing = pool?.changeCredits(of: upstream) { $0.coverUse(of: upstream, used: $1) }
        if let missing, !missing.isNone { declare(missing, of: upstream) }
    }

    private func declare(_ present: UpstreamCredits, of upstream: String) {
        let limits = pool?.settings.limits(of: upstream) ?? .none
        write(.credit(.declare(upstream: upstream, present, limits: limits)))
    }

    // MARK: - Uses

    /// A shared subscription that this member owns in this term cannot be opened. It is opened again once there are credits for it,
    /// or has failed.
    func notOpened(_ id: String, term: UInt64, _ error: PoolError) {
        guard case .creditsNeeded(let shortage) = error else { return failed(id, error) }
        obtain(shortage) { [self] decision in
            switch decision {
            case .given(let ended): offer(.reopen(id, term: term, ended: ended))
            case .refused(let error): if owns(id, term) { failed(id, error) }
            case .unknown: retry { self.offer(.reopen(id, term: term, ended: {})) }
            }
        }
    }

    /// The upstream subscription cannot be opened: streams receive the event of a refused subscription.
    private func failed(_ id: String, _ error: PoolError) {
        let cause = ProblemDetails.sentence(for: error)
        report(unopened: cause)
        let failure = SubscriptionEvent.failed(code: UpstreamRefusal.unopenedCode, message: cause)
        take(.subscription(SubscriptionID(id), .event(failure)))
    }

    func owns(_ id: String, _ term: UInt64) -> Bool { reports.withLock { $0.outbox.term(of: id) } == term }

    /// Activates a subscription that this member has inherited, once there are credits for it; without, it remains inactive.
    func activate(_ resource: SubscriptionResource, in pool: SessionPool) throws(PoolError) {
        do {
            try pool.activate(resource)
        } catch .creditsNeeded(let shortage) {
            obtain(shortage) { [self] decision in
                switch decision {
                case .given(let ended):
                    addJob { [self] in
                        activateLater(resource, in: pool)
                        ended()
                    }
                case .refused(let error): warn(error)
                case .unknown: retry { self.activateLater(resource, in: pool) }
                }
            }
        }
    }

    private func activateLater(_ resource: SubscriptionResource, in pool: SessionPool) {
        guard pool.resource(resource.id) === resource, !resource.status.isActive else { return }
        do {
            try activate(resource, in: pool)
        } catch {
            warn(error)
        }
    }

    private func warn(_ error: PoolError) {
        let cause = ProblemDetails.sentence(for: error)
        logger.warning("cannot activate a subscription of a removed member", metadata: ["error": "\(cause)"])
    }

    /// Runs an action once this member can write to the log.
    private func retry(_ action: @escaping @Sendable () -> Void) {
        addJob { [self] in
            if await holds(until: .never, { $0.isMember && $0.isComplete(at: $1) }) { action() }
        }
    }
}
