internal import Changes
internal import Primitives
internal import SessionCore

/// A subscription that streams of all members share.
package struct SharedTopic: Sendable, Equatable {
    /// The upstream and the properties of the subscription.
    package fileprivate(set) var key: SharedTopicKey
    /// The member that holds the upstream subscription; nil while no member can.
    package fileprivate(set) var owner: UInt64?
    /// The position at which the owner was assigned.
    package fileprivate(set) var term: UInt64
    /// The members that have readers.
    package fileprivate(set) var interested: Set<UInt64> = []

    /// A shared subscription without properties: the entry of the subscription has them.
    static let wire = Wire<Self>(
        { upstream, owner, term, interested in
            let key = SharedTopicKey(upstream: upstream, properties: Wire<SubscriptionProperties>.blank)
            return SharedTopic(key: key, owner: owner, term: term, interested: interested)
        },
        (\.key.upstream, .string),
        (\.owner, .optional(.fixed64)),
        (\.term, .varint),
        (\.interested, .members)
    )
}

/// The shared subscriptions of the cluster. Those of one upstream are divided into groups: one member owns a whole group.
package struct SharedTopics: Sendable, Equatable {
    /// A group of which subscriptions have an owner.
    private struct OwnedGroup: Sendable, Equatable {
        let owner: UInt64
        /// The number of these subscriptions, at least 1.
        var count = 0
    }

    /// The number of groups that the subscriptions of one upstream are divided into.
    package let groups: Int
    package private(set) var byID: [String: SharedTopic] = [:]
    private var owned: [UInt64: OwnedGroup] = [:]

    init(groups: Int) { self.groups = groups }

    /// The group that a shared subscription belongs to.
    package func group(of id: String, _ key: SharedTopicKey) -> UInt64 {
        FNV1a.hash(of: key.upstream) &+ FNV1a.hash(of: id) % UInt64(groups)
    }

    /// The owner of a group; nil if none of its subscriptions has one.
    func owner(ofGroup group: UInt64) -> UInt64? { owned[group]?.owner }

    /// Adds a subscription without an owner.
    mutating func add(_ id: String, _ key: SharedTopicKey, at position: UInt64) {
        byID[id] = SharedTopic(key: key, owner: nil, term: position)
    }

    /// Adds a subscription from a snapshot of another member.
    mutating func restore(_ id: String, _ topic: SharedTopic, _ properties: SubscriptionProperties) {
        add(id, SharedTopicKey(upstream: topic.key.upstream, properties: properties), at: topic.term)
        byID[id]?.interested = topic.interested
        if let owner = topic.owner { assign(id, to: owner, at: topic.term) }
    }

    mutating func remove(_ id: String) {
        unassign(id)
        byID[id] = nil
    }

    /// Gives a subscription without an owner to the owner of its group, or the first one of its group to any member.
    mutating func assign(_ id: String, to owner: UInt64, at position: UInt64) {
        guard let topic = byID[id] else { return }
        owned[group(of: id, topic.key), default: OwnedGroup(owner: owner)].count += 1
        byID[id]?.owner = owner
        byID[id]?.term = position
    }

    mutating func unassign(_ id: String) {
        guard let topic = byID[id], topic.owner != nil else { return }
        byID[id]?.owner = nil
        let group = group(of: id, topic.key)
        owned[group]?.count -= 1
        if owned[group]?.count == 0 { owned[group] = nil }
    }

    mutating func addInterest(_ id: String, of member: UInt64) { byID[id]?.interested.insert(member) }

    /// Returns whether the member had an interest.
    mutating func removeInterest(_ id: String, of member: UInt64) -> Bool {
        byID[id]?.interested.remove(member) != nil
    }

    /// A member was removed. Returns the subscriptions that it owned, which have no owner now.
    mutating func memberRemoved(_ gone: UInt64) -> [String] {
        for id in byID.keys { byID[id]?.interested.remove(gone) }
        let orphans = byID.filter { $0.value.owner == gone }.keys.sorted()
        for id in orphans { unassign(id) }
        return orphans
    }
}

/// The decisions about shared subscriptions.
extension ClusterLedger {
    mutating func addInterest(_ id: String, _ key: SharedTopicKey, by member: UInt64) {
        if topics.byID[id] == nil {
            guard subscriptions[id] == nil else { return }
            topics.add(id, key, at: position)
            subscriptions[id] = SubscriptionEntry(properties: key.properties, madeAt: position, isActive: true)
            effects += [
                .hub(.subscription(SubscriptionID(id), .added(key.properties))),
                .hub(.subscription(SubscriptionID(id), .activity(isActive: true))),
            ]
            assign(id)
        }
        topics.addInterest(id, of: member)
        effects.append(.interestAdded(id, by: member))
    }

    /// Assigns a shared subscription, with its credits, to the owner of its group. If the group has none, the owner is the
    /// member that ranks first among those that have the upstream, or that have a session while no further one is free.
    mutating func assign(_ id: String) {
        guard let key = topics.byID[id]?.key else { return }
        let group = topics.group(of: id, key)
        let present = topics.owner(ofGroup: group)
        let carriers = credits.carriers(of: key.upstream, among: able(key.upstream))
        guard let owner = present ?? Rendezvous.ranking(of: carriers, for: group).first else { return }
        topics.assign(id, to: owner, at: position)
        assignCredits(for: key.properties, of: key.upstream, withSession: present == nil, to: owner)
        effects.append(.assigned(id, to: owner))
    }

    mutating func retire(_ id: String, _ term: UInt64, by member: UInt64) {
        guard let topic = topics.byID[id], topic.owner == member, topic.term == term, topic.interested.isEmpty
        else { return }
        topics.remove(id)
        let wasSubscribed = subscriptions.removeValue(forKey: id)?.layout != nil
        effects.append(.retired(id, wasSubscribed: wasSubscribed))
    }
}
