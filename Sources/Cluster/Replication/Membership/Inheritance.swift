internal import Changes
internal import Primitives
internal import SessionCore

/// A resource that a request created, and that another member recreates when its owner is removed.
package struct SpecifiedResource: Sendable, Equatable {
    /// The specification from which it is recreated.
    package internal(set) var specification: ResourceSpecification
    /// The member that owns it; nil while no member can.
    package internal(set) var owner: UInt64?
    /// Whether a prepared stream is open on its owner; nil for anything else.
    package internal(set) var isOpen: Bool?

    static let wire = Wire<Self>(
        Self.init,
        (\.specification, ResourceSpecification.wire),
        (\.owner, .optional(.fixed64)),
        (\.isOpen, .optional(.bool))
    )
}

/// The owners of resources and shared subscriptions that have none.
extension ClusterLedger {
    /// Assigns the shared subscriptions and specified resources without an owner, if a member has their upstreams now.
    mutating func assignUnowned() {
        for (id, topic) in topics.byID.sorted(by: { $0.key < $1.key }) where topic.owner == nil { assign(id) }
        assignResources(specified.filter { $0.value.owner == nil }.map(\.key))
    }

    mutating func specify(_ id: String, _ specification: ResourceSpecification, by member: UInt64) {
        let owner = specified[id]?.owner ?? clients[id]?.owner ?? subscriptions[id]?.owner
        guard owner == member, topics.byID[id] == nil, specified[id]?.isOpen == nil else {
            return effects.append(.order(.releaseResource(id), to: member))
        }
        specified[id] = SpecifiedResource(specification: specification, owner: member)
    }

    /// Assigns specified resources without an owner, in the order of their creation, to the members that rank first. Without
    /// members, they stay without an owner.
    mutating func assignResources(_ ids: [String]) {
        if members.isEmpty { return }
        for id in ids.sorted(by: { (madeAt($0), $0) < (madeAt($1), $1) }) {
            guard let specification = specified[id]?.specification else { continue }
            let entry = subscriptions[id].flatMap { specification.isPooled(id) && $0.isActive ? $0 : nil }
            var able = specification.upstream.map(able) ?? Array(members.keys)
            if entry != nil, let upstream = specification.upstream {
                able = credits.carriers(of: upstream, among: able)
            }
            let hash = FNV1a.hash(of: specification.group)
            guard let owner = Rendezvous.ranking(of: able, for: hash).first else { continue }
            specified[id]?.owner = owner
            clients[id]?.owner = owner
            subscriptions[id]?.owner = owner
            if let entry, let upstream = specification.upstream {
                let needsSession = !credits[upstream].hasSession(owner)
                assignCredits(for: entry.properties, of: upstream, withSession: needsSession, to: owner)
            }
            effects.append(.inherited(id, by: owner))
        }
    }

    private func madeAt(_ id: String) -> UInt64 { clients[id]?.madeAt ?? subscriptions[id]?.madeAt ?? 0 }
}

/// The removal of a member: its shared subscriptions, sessions and resources get other owners.
extension ClusterLedger {
    mutating func remove(_ gone: UInt64) {
        guard members.removeValue(forKey: gone) != nil else { return }
        noteFormats()
        removed = (removed + [gone]).suffix(Self.remembered)
        requests.abandonAll(by: gone)
        // Its credits are free for the members that inherit from it, before claims that wait get them.
        credits.release(all: gone)
        let orphans = topics.memberRemoved(gone)
        let inheritance = specified.filter { $0.value.owner == gone }.map(\.key)
        let first = effects.count
        for id in orphans { assign(id) }
        let assignments = Array(effects[first...])
        effects.removeSubrange(first...)
        let adopted = adoptSessions(of: gone, carrying: orphans)
        for change in changes(byRemovalOf: gone, orphans: orphans, adopted: adopted) {
            note(change, by: gone)
            effects.append(.hub(change))
        }
        effects.append(.removed(gone))
        if ticketUses.hasOpen(of: gone) { effects.append(.ticketsOrphaned(of: gone)) }
        // The credits first: a new owner declares what its sessions have open beyond its credits.
        effects += assignments.filter { if case .assigned = $0 { false } else { true } }
        for client in adopted.keys.sorted() {
            if let owner = clients[client]?.owner { effects.append(.adopted(client: client, by: owner)) }
        }
        let kept = Set(adopted.values.joined())
        effects += assignments.filter { effect in
            if case .assigned(let id, _) = effect { !kept.contains(id) } else { false }
        }
        for id in inheritance {
            specified[id]?.owner = nil
            if specified[id]?.isOpen != nil { specified[id]?.isOpen = false }
        }
        assignResources(inheritance)
        for id in inheritance {
            if let heir = specified[id]?.owner { moveQuotas(of: id, from: gone, to: heir) }
        }
        quotas.releaseAll(of: gone)
        for upstream in credits.upstreams.keys.sorted() { settleCredits(of: upstream) }
    }

    /// Assigns each session of a removed member to the new owner of its subscriptions; returns these by client. A
    /// subscription whose new owner is another member is opened again.
    private mutating func adoptSessions(of gone: UInt64, carrying orphans: [String]) -> [String: [String]] {
        var adopted: [String: [String]] = [:]
        for id in orphans {
            guard let entry = subscriptions[id], entry.layout != nil, entry.number != nil, let client = entry.carrier,
                sessions[client] != nil, let owner = topics.byID[id]?.owner
            else { continue }
            if clients[client]?.owner == gone { clients[client]?.owner = owner }
            if clients[client]?.owner == owner { adopted[client, default: []].append(id) }
        }
        return adopted
    }

    /// The changes of the hubs by the removal of a member, whose clients in `adopted` stay with these subscriptions.
    private func changes(byRemovalOf gone: UInt64, orphans: [String], adopted: [String: [String]]) -> [Change] {
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
            if view.layout != nil { own.append(.event(.unsubscribed(isFinal: isOver))) }
            if view.carrier != nil { own.append(.carried(by: nil)) }
            if isOver { own.append(.removed) }
            changes += own.map { .subscription(SubscriptionID(id), $0) }
        }
        for (id, _) in lost where specified[id] == nil { changes.append(.client(ClientID(id), .removed)) }
        return changes
    }
}

/// Rendezvous hashing: all members choose the same member for a text without communication, and the choices for
/// different texts are independent of each other.
enum Rendezvous {
    /// Members in the order of their rank for a hash.
    static func ranking(of members: some Collection<UInt64>, for hash: UInt64) -> [UInt64] {
        members
            .map { (rank: SplitMix64.mixed(SplitMix64.mixed(hash) ^ $0), member: $0) }
            .sorted { ($0.rank, $0.member) > ($1.rank, $1.member) }
            .map(\.member)
    }
}
