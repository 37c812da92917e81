internal import Gateway
internal import Replication
internal import SessionCore

extension ClusterNode {
    func resourceElsewhere(_ id: String) -> ResourceElsewhere? {
        state.withLock { state in
            guard let ledger = state.machine.ledger else { return nil }
            return ledger.indexedSubscription(id) ?? ledger.indexedClient(id)
        }
    }

    /// The ids of the resources of the log that meet a condition, in the order of creation.
    func ids(of list: (ClusterLedger) -> [ResourceElsewhere], _ isIncluded: (ResourceElsewhere) -> Bool) -> [String] {
        let all = state.withLock { $0.machine.ledger.map(list) } ?? []
        return all.filter(isIncluded).sorted { ($0.madeAt, $0.id) < ($1.madeAt, $1.id) }.map(\.id)
    }
}

extension ClusterLedger {
    var indexedSubscriptions: [ResourceElsewhere] { subscriptions.keys.compactMap(indexedSubscription) }

    var indexedClients: [ResourceElsewhere] { clients.keys.compactMap(indexedClient) }

    fileprivate func indexedSubscription(_ id: String) -> ResourceElsewhere? {
        let (topic, specification) = (topics.byID[id], specified[id]?.specification)
        // Without a specification, the creation of a posted one is not confirmed yet.
        guard let view = subscriptions[id], topic != nil || specification != nil else { return nil }
        return ResourceElsewhere(
            id: id,
            kind: topic == nil ? .posted(view.properties) : .shared(view.properties),
            upstream: topic?.key.upstream ?? specification?.upstream,
            owner: specification?.owner,
            madeAt: view.madeAt
        )
    }

    fileprivate func indexedClient(_ id: String) -> ResourceElsewhere? {
        guard let client = clients[id] else { return nil }
        let specification = specified[id]?.specification
        return ResourceElsewhere(
            id: id,
            kind: specification == nil ? .pooledClient : .dedicatedClient,
            upstream: specification?.upstream,
            owner: specification?.owner,
            madeAt: client.madeAt
        )
    }
}
