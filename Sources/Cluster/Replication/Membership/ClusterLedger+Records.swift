internal import Changes
internal import Primitives
internal import SessionCore

extension ClusterLedger {
    mutating func apply(_ record: ClusterRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        switch record {
        case .join:
            joined(member, &effects)
        case .remove(let gone):
            remove(gone, &effects)
        case .want(let id, let key):
            want(id, key, by: member, &effects)
        case .unwant(let id):
            if topics[id]?.wantedBy.remove(member) != nil { effects.append(.unwanted(id)) }
        case .retire(let id, let tenure):
            retire(id, tenure, by: member, &effects)
        case .change(let change, let tenure):
            apply(change, tenure, by: member, &effects)
        case .numberedChange(let change, let tenure, let number):
            apply(change, tenure, number, by: member, &effects)
        case .session(let client, let session):
            if clients[client]?.owner == member { sessions[client] = session }
        case .upstreamNumber(let id, let tenure, let number):
            if owns(id, tenure, member) { subscriptions[id]?.number = number }
        case .specify(let id, let specification):
            specify(id, specification, by: member, &effects)
        case .ticket(let record):
            apply(record, by: member, &effects)
        case .stream(let record):
            apply(record, by: member, &effects)
        case .request(let record):
            apply(record, by: member, &effects)
        case .quota(let record):
            apply(record, by: member, &effects)
        case .credit(let record):
            apply(record, by: member, &effects)
        case .part:
            break
        }
    }

    /// A member has joined. `apply(_:)` has added it when it found `join` at the start of the frame.
    private mutating func joined(_ member: UInt64, _ effects: inout [LedgerEffect]) {
        effects.append(.joined(member))
        for id in topics.keys.sorted() where topics[id]?.owner == nil { assign(id, &effects) }
        assignResources(specified.filter { $0.value.owner == nil }.map(\.key), &effects)
    }

    private mutating func apply(_ record: TicketRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        switch record {
        case .open(let opening):
            var (mayOpen, former): (Bool, UInt64?) = (false, nil)
            if opening.use.epoch == epoch { (mayOpen, former) = ticketUses.open(opening, by: member, at: position) }
            let key = opening.use.key
            if let former, former != member { effects.append(.ticketMoved(key, from: former)) }
            effects.append(.decided(.ticket(key), by: member, mayOpen ? .accepted : .refused))
        case .closed(let key, let time): ticketUses.close(key, by: member, at: time)
        case .closedAll(let gone, let time):
            if members[gone] == nil { ticketUses.closeAll(of: gone, at: time) }
        }
    }

    // MARK: - Specified resources

    private mutating func specify(
        _ id: String,
        _ specification: ResourceSpecification,
        by member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        let owner = specified[id]?.owner ?? clients[id]?.owner ?? subscriptions[id]?.owner
        guard owner == member, topics[id] == nil, specified[id]?.isOpen == nil else {
            effects.append(.refused(id, by: member))
            return
        }
        specified[id] = SpecifiedResource(specification: specification, owner: member)
    }

    /// Assigns specified resources without an owner, in the order of their creation, to the members that rank first.
    mutating func assignResources(_ ids: [String], _ effects: inout [LedgerEffect]) {
        for id in ids.sorted(by: { (madeAt($0), $0) < (madeAt($1), $1) }) {
            guard let specification = specified[id]?.specification else { continue }
            let entry = subscriptions[id].flatMap { specification.isPooled(id) && $0.isActive ? $0 : nil }
            var able = specification.upstream.map(able) ?? Array(members.keys)
            if entry != nil, let upstream = specification.upstream {
                able = credits.carriers(of: upstream, among: able)
            }
            let hash = FNV1a(of: specification.group).value
            guard let owner = Rendezvous.ranking(of: able, for: hash).first else { continue }
            specified[id]?.owner = owner
            clients[id]?.owner = owner
            subscriptions[id]?.owner = owner
            if let entry, let upstream = specification.upstream {
                let needsSession = !credits[upstream].hasSession(owner)
                assignCredits(for: entry.properties, of: upstream, withSession: needsSession, to: owner, &effects)
            }
            effects.append(.inherited(id))
        }
    }

    /// The position at which a client or subscription was added.
    private func madeAt(_ id: String) -> UInt64 { clients[id]?.madeAt ?? subscriptions[id]?.madeAt ?? 0 }

    // MARK: - Shared subscriptions

    private mutating func want(
        _ id: String,
        _ key: SharedTopicKey,
        by member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        if topics[id] == nil {
            guard subscriptions[id] == nil else { return }
            topics[id] = SharedTopic(key: key, owner: nil, tenure: position)
            var view = SubscriptionEntry(properties: key.properties, owner: nil, madeAt: position)
            view.isActive = true
            subscriptions[id] = view
            effects += [
                .hub(.subscription(SubscriptionID(id), .added(key.properties))),
                .hub(.subscription(SubscriptionID(id), .activity(isActive: true))),
            ]
            assign(id, &effects)
        }
        topics[id]?.wantedBy.insert(member)
        effects.append(.wanted(id, by: member))
    }

    /// Assigns a shared subscription, with its credits, to the owner of its group. If the group has none, the owner is the
    /// member that ranks first among those that have the upstream, or that have a session while no further one is free.
    mutating func assign(_ id: String, _ effects: inout [LedgerEffect]) {
        guard let topic = topics[id] else { return }
        let upstream = topic.key.upstream
        let group = group(of: id, topic.key)
        let present = ownedGroups[group]?.owner
        let carriers = credits.carriers(of: upstream, among: able(upstream))
        guard let owner = present ?? Rendezvous.ranking(of: carriers, for: group).first else { return }
        ownedGroups[group, default: OwnedGroup(owner: owner, count: 0)].count += 1
        topics[id]?.owner = owner
        topics[id]?.tenure = position
        let properties = topic.key.properties
        assignCredits(for: properties, of: upstream, withSession: present == nil, to: owner, &effects)
        effects.append(.assigned(id))
    }

    /// Takes a shared subscription from its owner.
    mutating func unassign(_ id: String) {
        guard let topic = topics[id], topic.owner != nil else { return }
        topics[id]?.owner = nil
        leaveGroup(topic, id)
    }

    /// Adds a topic from a snapshot of another member.
    mutating func restore(_ topic: SharedTopic, _ id: String) {
        topics[id] = topic
        guard let owner = topic.owner else { return }
        ownedGroups[group(of: id, topic.key), default: OwnedGroup(owner: owner, count: 0)].count += 1
    }

    private mutating func retire(
        _ id: String,
        _ tenure: UInt64,
        by member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        guard let topic = topics[id], topic.owner == member, topic.tenure == tenure, topic.wantedBy.isEmpty
        else { return }
        forget(topic, id)
        effects += [.hub(.subscription(SubscriptionID(id), .removed)), .retired(id, owner: member)]
    }

    private mutating func forget(_ topic: SharedTopic, _ id: String) {
        topics[id] = nil
        subscriptions[id] = nil
        leaveGroup(topic, id)
    }

    private mutating func leaveGroup(_ topic: SharedTopic, _ id: String) {
        let group = group(of: id, topic.key)
        ownedGroups[group]?.count -= 1
        if ownedGroups[group]?.count == 0 { ownedGroups[group] = nil }
    }

    /// The group that a shared subscription belongs to.
    package func group(of id: String, _ key: SharedTopicKey) -> UInt64 {
        FNV1a(of: key.upstream).value &+ FNV1a(of: id).value % UInt64(groups)
    }

    // MARK: - Changes of the hubs

    /// Applies a change if its writer owns what it is about.
    ///
    /// - Parameter number: The number of the data notification that an event of a shared subscription comes from; nil: it
    ///   has none.
    private mutating func apply(
        _ change: Change,
        _ tenure: UInt64,
        _ number: UInt64? = nil,
        by member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        guard isValid(change, tenure: tenure, by: member) else { return }
        if let number, case .subscription(let id, .event) = change { processed(number, of: id.rawValue) }
        note(change, by: member)
        effects.append(.hub(change))
    }

    private func isValid(_ change: Change, tenure: UInt64, by member: UInt64) -> Bool {
        switch change {
        case .client(let id, .added): return clients[id.rawValue] == nil
        case .client(let id, .removed), .client(let id, .event): return clients[id.rawValue]?.owner == member
        case .subscription(let id, .added): return subscriptions[id.rawValue] == nil
        case .subscription(let id, .removed): return subscriptions[id.rawValue]?.owner == member
        case .subscription(let id, .carried(let client)):
            if let client, clients[client.rawValue]?.owner != member { return false }
            return owns(id.rawValue, tenure, member)
        case .subscription(let id, .propertiesChanged), .subscription(let id, .activity), .subscription(let id, .event):
            return owns(id.rawValue, tenure, member)
        }
    }

    private func owns(_ id: String, _ tenure: UInt64, _ member: UInt64) -> Bool {
        if let topic = topics[id] { return topic.owner == member && topic.tenure == tenure }
        return subscriptions[id]?.owner == member
    }

    /// The log contains the events of a session up to this number.
    private mutating func processed(_ number: UInt64, of id: String) {
        guard let client = subscriptions[id]?.carrier, let session = sessions[client] else { return }
        sessions[client]?.processed = max(session.processed, number)
    }

    mutating func note(_ change: Change, by member: UInt64) {
        switch change {
        case .client(let id, let change): note(change, of: id.rawValue, by: member)
        case .subscription(let id, let change): note(change, of: id.rawValue, by: member)
        }
    }

    private mutating func note(_ change: ClientChange, of id: String, by member: UInt64) {
        switch change {
        case .added(let status):
            clients[id] = ClientEntry(owner: member, status: status, madeAt: position)
        case .removed:
            clients[id] = nil
            specified[id] = nil
            sessions[id] = nil
        case .event(.status(let status, _)): clients[id]?.status = status
        case .event: break
        }
    }

    private mutating func note(_ change: SubscriptionChange, of id: String, by member: UInt64) {
        switch change {
        case .added(let properties):
            subscriptions[id] = SubscriptionEntry(properties: properties, owner: member, madeAt: position)
        case .removed:
            subscriptions[id] = nil
            specified[id] = nil
        case .propertiesChanged(let properties): subscriptions[id]?.properties = properties
        case .carried(let client):
            if subscriptions[id]?.carrier != client?.rawValue { subscriptions[id]?.number = nil }
            subscriptions[id]?.carrier = client?.rawValue
            if client != nil { subscriptions[id]?.isActive = true }
        case .activity(let isActive): subscriptions[id]?.isActive = isActive
        case .event(let event): subscriptions[id]?.note(event)
        }
    }
}

extension ClusterLedger.SubscriptionEntry {
    /// The layout of the updates of a subscription, from the counts and positions that the server confirmed.
    static func layout(
        _ properties: SubscriptionProperties,
        fieldCount: Int,
        keyPosition: Int?,
        commandPosition: Int?
    ) -> SubscriptionLayout {
        SubscriptionLayout(
            itemNames: properties.items.names,
            fieldNames: properties.fields.names,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition,
            secondLevelFieldNames: properties.secondLevelFields?.names,
            hasSecondLevel: properties.secondLevelFields != nil
        )
    }

    fileprivate mutating func note(_ event: SubscriptionEvent) {
        switch event {
        case .subscribed(_, let fieldCount, let keyPosition, let commandPosition):
            isSubscribed = true
            isActive = true
            layout = Self.layout(
                properties,
                fieldCount: fieldCount,
                keyPosition: keyPosition,
                commandPosition: commandPosition
            )
        case .unsubscribed(let isFinal):
            isSubscribed = false
            layout = nil
            number = nil
            if isFinal { isActive = false }
        case .failed:
            isSubscribed = false
            layout = nil
            number = nil
            isActive = false
        default: break
        }
    }
}
