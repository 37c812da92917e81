internal import Changes
internal import Gateway
internal import Logging
internal import Replication
internal import SessionCore
internal import SessionPool

/// Upstream sessions, which pass from one member to another (see the decision record *AdoptedSessions*), and the upstream
/// subscriptions that this member owns.
extension ClusterNode {
    // MARK: - Sessions

    func take(_ change: SessionChange) {
        switch change {
        case .offered(let session, let client): offer(session, of: client.rawValue)
        case .numbered(let subscription, let number):
            reports.withLock { $0.outbox.number(subscription.rawValue, number) }
        }
    }

    private func offer(_ session: OfferedSession?, of client: String) {
        let offered = session.map { session in
            OfferedUpstreamSession(
                content: sessionCipher.encrypt(Array("\(session.id) \(session.address)".utf8)),
                processed: UInt64(clamping: session.processed)
            )
        }
        reports.withLock { $0.outbox.offer(offered, of: client) }
        wake()
    }

    var ownsSessions: Bool { state.withLock { $0.machine.ownsSessions(at: clock()) } }

    // MARK: - Adoption

    /// Continues a session of a removed member. Where that is impossible, its subscriptions are opened again.
    func adopt(_ inherited: InheritedSession, _ applier: inout ClusterApplier) {
        shared.withLock { $0.counters.adopting(inherited.client) }
        reports.withLock { reports in
            for topic in inherited.topics { reports.outbox.begin(topic.id, term: topic.term) }
            reports.outbox.adopt(client: inherited.client, .disconnectedTryingRecovery)
        }
        do {
            guard let offer = opened(inherited.session) else { throw PoolError.lifecycle(rule: ClusterCipher.mismatch) }
            let group = inherited.topics.first.map { self.group(of: $0.id, $0.key) } ?? 0
            try applier.adopt(inherited, offer, group: group, in: pool)
            if let upstream = inherited.topics.first?.key.upstream { coverUse(of: upstream) }
        } catch {
            shared.withLock { $0.counters.adoptionEnded(inherited.client, .failed) }
            logger.warning("cannot adopt a session of a removed member", metadata: ["error": "\(error)"])
            for topic in inherited.topics {
                let lost = SubscriptionEvent.unsubscribed(isFinal: false)
                take(.subscription(SubscriptionID(topic.id), .event(lost)))
                take(.subscription(SubscriptionID(topic.id), .carried(by: nil)))
            }
            take(.client(ClientID(inherited.client), .removed))
            for topic in inherited.topics { carry(topic.id, topic.key, term: topic.term, &applier) }
        }
    }

    private func opened(_ session: OfferedUpstreamSession) -> OfferedSession? {
        guard let content = sessionCipher.decrypt(session.content) else { return nil }
        let words = String(decoding: content, as: UTF8.self).split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        return OfferedSession(
            id: String(words[0]),
            address: String(words[1]),
            processed: Int(clamping: session.processed)
        )
    }

    /// Releases all upstream subscriptions. The sessions that other members can continue are left to them.
    func dropAll(_ applier: inout ClusterApplier) {
        for client in pool?.transferableClients ?? [] {
            reports.withLock { $0.outbox.release(client.rawValue) }
        }
        for id in applier.unopened { reports.withLock { $0.outbox.end(id, isOpened: false) } }
        applier.dropAll(in: pool)
    }

    /// The group of a shared subscription, whose sessions pass to one member.
    func group(of id: String, _ key: SharedTopicKey) -> UInt64 {
        state.withLock { $0.machine.ledger?.group(of: id, key) } ?? 0
    }

    // MARK: - Upstream subscriptions

    func reactivate(_ id: String, _ applier: inout ClusterApplier) {
        guard let term = reports.withLock({ $0.outbox.term(of: id) }) else { return }
        opened(id, term: term, applier.reactivate(id, in: pool))
    }

    func drop(_ id: String, _ applier: inout ClusterApplier) {
        let isOpened = applier.isOpened(id)
        reports.withLock { $0.outbox.end(id, isOpened: isOpened) }
        applier.drop(id, in: pool)
    }

    func carry(_ id: String, _ key: SharedTopicKey, term: UInt64, _ applier: inout ClusterApplier) {
        reports.withLock { $0.outbox.begin(id, term: term) }
        let group = self.group(of: id, key)
        opened(id, term: term, applier.carry(id, key, group: group, in: pool))
    }

    /// The upstream subscription cannot be opened: streams receive the event of a refused subscription.
    func failed(_ id: String, _ error: PoolError) {
        let cause = ProblemDetails.sentence(for: error)
        logger.warning("cannot open a shared subscription", metadata: ["error": "\(cause)"])
        let failure = SubscriptionEvent.failed(code: ClusterApplier.failureCode, message: cause)
        take(.subscription(SubscriptionID(id), .event(failure)))
    }

    // MARK: - Reports

    /// This member has joined: it reports all that it has.
    func reportAll() {
        // Another member may have performed the request of an uncertain creation since this member was removed.
        let uncertain = reports.withLock { $0.takeUncertainCreations() }
        for id in uncertain where holder(of: id) == .unknown { resources?.discard(id) }
        reports.withLock { $0.outbox.open() }
        pool?.reportAgain()
        reports.withLock { $0.outbox.specifyAgain() }
        streams?.declareAgain()
        declareTickets()
        changeClaims { $0.declarations() }
        declareCredits()
        reports.withLock { $0.outbox.endReport() }
    }

    func stopReporting(uncertain: UInt64) {
        let (due, isOverflow) = reports.withLock { reports in
            let isOverflow = reports.outbox.isOpen && reports.outbox.hasOverflowed
            reports.outbox.close()
            let records = reports.outbox.recordsAppended
            return (reports.discarded(records, uncertain: uncertain) + reports.removeUndecided(), isOverflow)
        }
        if isOverflow { reportOverflow() }
        for action in due { action() }
    }
}
