internal import Changes
internal import EventHub
internal import Gateway
internal import Logging
internal import Replication
internal import SessionCore
internal import SessionPool

/// Upstream sessions that pass from one member to another: see the decision record *AdoptedSessions*.
extension ClusterNode {
    // MARK: - Reports of the pool

    /// Takes a change of the sessions that other members can continue.
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

    var ownsSessions: Bool {
        let now = clock()
        return state.withLock { $0.machine.ownsSessions(at: now) }
    }

    // MARK: - Adoption

    /// Continues a session of a removed member. Where that is impossible, its subscriptions are opened again.
    func adopt(_ inherited: InheritedSession) {
        shared.withLock { $0.counters.adopting(inherited.client) }
        reports.withLock { reports in
            for topic in inherited.topics { reports.outbox.begin(topic.id, tenure: topic.tenure) }
            reports.outbox.adopt(client: inherited.client, .disconnectedTryingRecovery)
        }
        do {
            guard let offer = opened(inherited.session) else { throw PoolError.lifecycle(rule: ClusterCipher.mismatch) }
            let group = inherited.topics.first.map { self.group(of: $0.id, $0.key) } ?? 0
            try applier.withLock { applier throws(PoolError) in try applier.adopt(inherited, offer, group: group) }
            if let upstream = inherited.topics.first?.key.upstream { coverUse(of: upstream) }
        } catch {
            shared.withLock { $0.counters.adoptionFailed(inherited.client) }
            logger.warning("cannot adopt a session of a removed member", metadata: ["error": "\(error)"])
            for topic in inherited.topics {
                let lost = SubscriptionEvent.unsubscribed(isFinal: false)
                take(.subscription(SubscriptionID(topic.id), .event(lost)))
                take(.subscription(SubscriptionID(topic.id), .carried(by: nil)))
            }
            take(.client(ClientID(inherited.client), .removed))
            for topic in inherited.topics { carry(topic.id, topic.key, tenure: topic.tenure) }
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
    func dropAll() {
        for client in applier.withLock({ $0.pool })?.transferableClients ?? [] {
            reports.withLock { $0.outbox.surrender(client.rawValue) }
        }
        applier.withLock { $0.dropAll() }
    }

    /// The group of a shared subscription, whose sessions pass to one member.
    func group(of id: String, _ key: SharedTopicKey) -> UInt64 {
        state.withLock { $0.machine.ledger?.group(of: id, key) } ?? 0
    }
}
