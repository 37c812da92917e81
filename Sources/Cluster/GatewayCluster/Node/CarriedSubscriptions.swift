internal import Changes
internal import Gateway
internal import Logging
internal import Replication
internal import SessionCore
internal import SessionPool

/// The upstream subscriptions of the shared topics that this member owns, and the sessions that it has adopted: see the decision
/// record *AdoptedSessions*. The task of `ClusterNode` owns them.
struct CarriedSubscriptions: Sendable {
    private let cluster: ClusterNode
    /// The shared topics whose upstream subscription this member holds, or has tried to open.
    private var carried: [String: (key: SharedTopicKey, group: UInt64, resource: SubscriptionResource?)] = [:]

    init(of cluster: ClusterNode) { self.cluster = cluster }

    /// The shared topics whose upstream subscription was not opened.
    var unopened: [String] { carried.filter { $0.value.resource == nil }.map(\.key) }

    /// Opens the upstream subscription of a shared topic, in a term.
    mutating func carry(_ id: String, _ key: SharedTopicKey, term: UInt64) {
        cluster.reports.withLock { $0.outbox.begin(id, term: term) }
        open(id, key, group: group(of: id, key), term: term)
    }

    private mutating func open(_ id: String, _ key: SharedTopicKey, group: UInt64, term: UInt64) {
        release(id)
        carried[id] = (key, group, nil)
        do throws(PoolError) {
            guard let pool = cluster.pool else { throw .unknownUpstream(key.upstream) }
            let session = try pool.settings.sessionKey(upstream: key.upstream, group: group)
            let shared = SharedKey(session: session, properties: key.properties)
            try pool.checkCredits(for: shared)
            carried[id]?.resource = try pool.joinImplicit(shared, as: SubscriptionID(id)).resource
        } catch {
            cluster.notOpened(id, term: term, error)
        }
    }

    /// The group of a shared subscription, whose sessions pass to one member.
    private func group(of id: String, _ key: SharedTopicKey) -> UInt64 {
        cluster.state.withLock { $0.machine.ledger?.topics.group(of: id, key) } ?? 0
    }

    /// Subscribes again after the server has refused or ended the subscription, while this member owns the topic.
    mutating func reactivate(_ id: String) {
        guard let term = cluster.reports.withLock({ $0.outbox.term(of: id) }), let entry = carried[id],
            entry.resource?.status.isActive != true
        else { return }
        open(id, entry.key, group: entry.group, term: term)
    }

    /// Another member owns a topic.
    mutating func drop(_ id: String) {
        let isOpened = carried[id]?.resource != nil
        cluster.reports.withLock { $0.outbox.end(id, isOpened: isOpened) }
        release(id)
    }

    /// Releases an upstream subscription, which lingers in the pool.
    private mutating func release(_ id: String) {
        if let resource = carried.removeValue(forKey: id)?.resource { cluster.pool?.discardImplicit(resource) }
    }

    /// Releases all upstream subscriptions. Nothing is sent to the servers: another member may have adopted the sessions.
    mutating func dropAll() {
        for client in cluster.pool?.transferableClients ?? [] {
            cluster.reports.withLock { $0.outbox.release(client.rawValue) }
        }
        for id in unopened { cluster.reports.withLock { $0.outbox.end(id, isOpened: false) } }
        cluster.pool?.abandonTransferable()
        for id in carried.keys.sorted() { release(id) }
    }

    // MARK: - Adoption

    /// Continues a session of a removed member. Where that is impossible, its subscriptions are opened again.
    mutating func adopt(_ inherited: InheritedSession) {
        cluster.shared.withLock { $0.counters.adopting(inherited.client) }
        cluster.reports.withLock { reports in
            for topic in inherited.topics { reports.outbox.begin(topic.id, term: topic.term) }
            reports.outbox.adopt(client: inherited.client, .disconnectedTryingRecovery)
        }
        do {
            guard let offer = OfferedSession(inherited.session, cluster.sessionCipher) else {
                throw PoolError.lifecycle(rule: ClusterCipher.mismatch)
            }
            try resume(inherited, offer)
        } catch {
            cluster.shared.withLock { $0.counters.adoptionEnded(inherited.client, .failed) }
            cluster.logger.warning("cannot adopt a session of a removed member", metadata: ["error": "\(error)"])
            for topic in inherited.topics {
                let lost = SubscriptionEvent.unsubscribed(isFinal: false)
                cluster.take(.subscription(SubscriptionID(topic.id), .event(lost)))
                cluster.take(.subscription(SubscriptionID(topic.id), .carried(by: nil)))
            }
            cluster.take(.client(ClientID(inherited.client), .removed))
            for topic in inherited.topics { carry(topic.id, topic.key, term: topic.term) }
        }
    }

    /// Continues a session with the values that its subscriptions have in the hub.
    private mutating func resume(_ inherited: InheritedSession, _ offer: OfferedSession) throws(PoolError) {
        for topic in inherited.topics { release(topic.id) }
        guard let pool = cluster.pool, let first = inherited.topics.first else { return }
        let group = group(of: first.id, first.key)
        let subscriptions = inherited.topics.map { topic in
            let table = cluster.hub.snapshot(of: SubscriptionID(topic.id))?.table
            return SessionAdoption.Subscription(
                id: SubscriptionID(topic.id),
                number: Int(clamping: topic.number),
                table: table ?? ValueTable(properties: topic.key.properties)
            )
        }
        let resources = try pool.adopt(
            SessionAdoption(
                client: ClientID(inherited.client),
                key: try pool.settings.sessionKey(upstream: first.key.upstream, group: group),
                session: offer,
                subscriptions: subscriptions
            )
        )
        for (topic, resource) in zip(inherited.topics, resources) { carried[topic.id] = (topic.key, group, resource) }
        cluster.coverUse(of: first.key.upstream)
    }
}

extension OfferedUpstreamSession {
    /// The session as the log has it.
    init(_ session: OfferedSession, _ cipher: ClusterCipher) {
        self.init(
            content: cipher.encrypt(Array("\(session.id) \(session.address)".utf8)),
            processed: UInt64(clamping: session.processed)
        )
    }
}

extension OfferedSession {
    /// A session of the log; nil if it was encrypted with another key.
    fileprivate init?(_ session: OfferedUpstreamSession, _ cipher: ClusterCipher) {
        guard let content = cipher.decrypt(session.content) else { return nil }
        let words = String(decoding: content, as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return nil }
        self.init(id: words[0], address: words[1], processed: Int(clamping: session.processed))
    }
}
