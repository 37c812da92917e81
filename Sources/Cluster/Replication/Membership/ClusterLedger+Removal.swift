internal import Changes
internal import SessionCore

/// The removal of a member: its shared subscriptions, sessions and resources get other owners.
extension ClusterLedger {
    mutating func remove(_ gone: UInt64, _ effects: inout [LedgerEffect]) {
        guard members.removeValue(forKey: gone) != nil else { return }
        removed = (removed + [gone]).suffix(Self.remembered)
        requests.abandonAll(by: gone)
        // Its credits are free for the members that inherit from it, before claims that wait get them.
        credits.release(all: gone)
        let orphans = topics.keys.filter { topics[$0]?.owner == gone }.sorted()
        let inheritance = specified.filter { $0.value.owner == gone }.map(\.key)
        for id in topics.keys { topics[id]?.wantedBy.remove(gone) }
        for id in orphans { topics[id]?.owner = nil }
        ownedGroups = ownedGroups.filter { $0.value.owner != gone }
        var assignments: [LedgerEffect] = []
        for id in orphans { assign(id, &assignments) }
        let adopted = adoptSessions(of: gone, carrying: orphans)
        for change in changes(byRemovalOf: gone, orphans: orphans, adopted: adopted) {
            note(change, by: gone)
            effects.append(.hub(change))
        }
        effects.append(.removed(gone))
        if ticketUses.hasOpen(of: gone) { effects.append(.ticketsOrphaned(of: gone)) }
        effects += adopted.keys.sorted().map { .adopted(client: $0) }
        let kept = Set(adopted.values.joined())
        effects += assignments.filter { effect in
            if case .assigned(let id) = effect { !kept.contains(id) } else { true }
        }
        for id in inheritance {
            specified[id]?.owner = nil
            if specified[id]?.isOpen != nil { specified[id]?.isOpen = false }
        }
        assignResources(inheritance, &effects)
        for id in inheritance {
            if let heir = specified[id]?.owner { moveQuotas(of: id, from: gone, to: heir) }
        }
        quotas.releaseAll(of: gone)
        for upstream in credits.upstreams.keys.sorted() { settleCredits(of: upstream, &effects) }
    }

    /// Assigns each session of a removed member to the new owner of its subscriptions; returns these by client. A
    /// subscription whose new owner is another member is opened again.
    private mutating func adoptSessions(of gone: UInt64, carrying orphans: [String]) -> [String: [String]] {
        var adopted: [String: [String]] = [:]
        for id in orphans {
            guard let entry = subscriptions[id], entry.isSubscribed, entry.number != nil, let client = entry.carrier,
                sessions[client] != nil, let owner = topics[id]?.owner
            else { continue }
            if clients[client]?.owner == gone { clients[client]?.owner = owner }
            if clients[client]?.owner == owner { adopted[client, default: []].append(id) }
        }
        return adopted
    }

    /// The changes of the hubs by the removal of a member, whose clients in `adopted` stay with these subscriptions.
    private func changes(
        byRemovalOf gone: UInt64,
        orphans: [String],
        adopted: [String: [String]]
    ) -> [Change] {
        var changes: [Change] = []
        let lost = clients.filter { $0.value.owner == gone }.sorted { $0.key < $1.key }
        for (id, client) in lost where client.status.isConnected {
            changes.append(.client(ClientID(id), .event(.status(.disconnectedWillRetry))))
        }
        let released = Set(orphans).subtracting(adopted.values.joined())
        for (id, view) in subscriptions.sorted(by: { $0.key < $1.key })
        where view.owner == gone || released.contains(id) {
            let isOver = view.owner != nil && specified[id] == nil
            var own: [SubscriptionChange] = []
            if view.isSubscribed { own.append(.event(.unsubscribed(isFinal: isOver))) }
            if view.carrier != nil { own.append(.carried(by: nil)) }
            if isOver { own.append(.removed) }
            changes += own.map { .subscription(SubscriptionID(id), $0) }
        }
        for (id, _) in lost where specified[id] == nil { changes.append(.client(ClientID(id), .removed)) }
        return changes
    }
}
