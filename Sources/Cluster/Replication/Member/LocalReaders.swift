internal import Changes
package import Primitives

/// The shared subscriptions with local readers: in which of them the log has an interest of this member.
struct LocalReaders: Sendable {
    private struct Interest: Sendable {
        /// All return to `unknown` when the member is removed.
        enum Stage {
            /// The record of the interest was not appended yet. *Leaves to* `announced`.
            case unknown
            /// The record was appended and not read back yet. *Leaves to* `inLog`.
            case announced
            /// The record was read from the log.
            case inLog
        }

        let key: SharedTopicKey
        var stage = Stage.unknown
        var readers = 0
        var idleSince: Moment?
    }

    private var interests: [String: Interest] = [:]
    /// The subscriptions whose record is to be appended. Readers come and go while there is no contact to the log.
    private(set) var new: Set<String> = []

    var ids: Set<String> { Set(interests.keys) }

    /// A reader was added. For a subscription that the server has refused or ended, or that has ended with its upstream,
    /// returns a record by which the log has the subscription again and the owner subscribes again.
    mutating func added(_ id: String, _ key: SharedTopicKey, isOver: Bool) -> [ClusterRecord] {
        var interest = interests[id] ?? Interest(key: key)
        interest.readers += 1
        interest.idleSince = nil
        interests[id] = interest
        if interest.stage == .unknown { new.insert(id) }
        guard interest.stage == .inLog, isOver else { return [] }
        // The stream of the reader waits for the record, as that of a new subscription.
        interests[id]?.stage = .announced
        return [.addInterest(id: id, key)]
    }

    mutating func removed(_ id: String, at now: Moment) {
        guard var interest = interests[id] else { return }
        interest.readers -= 1
        if interest.readers <= 0 { interest.idleSince = now }
        interests[id] = interest
    }

    /// Whether a subscription has local readers, or had some a short time ago.
    func contains(_ id: String) -> Bool { interests[id] != nil }

    /// The change of the hub where a shared subscription ends. Streams of local readers stay open: the record of their interest,
    /// which is on its way or follows when this member joins again, opens the subscription again.
    func end(of id: String, _ wasSubscribed: Bool) -> Change {
        let closed: SubscriptionChange = wasSubscribed ? .event(.unsubscribed(isFinal: false)) : .carried(by: nil)
        return .subscription(SubscriptionID(id), contains(id) ? closed : .removed)
    }

    /// Whether the log has the record of a subscription.
    func hasInterest(_ id: String) -> Bool { interests[id]?.stage == .inLog }

    /// The log has a record of this member.
    mutating func interestAdded(_ id: String) {
        if interests[id]?.stage == .announced { interests[id]?.stage = .inLog }
    }

    /// The records of new subscriptions, to append now.
    mutating func declareNew() -> [ClusterRecord] {
        defer { new = [] }
        return new.sorted().compactMap { interests[$0]?.stage == .unknown ? declare($0) : nil }
    }

    /// The records of all subscriptions, to append now: the member joins.
    mutating func declareAll() -> [ClusterRecord] {
        new = []
        return interests.keys.sorted().compactMap { declare($0) }
    }

    private mutating func declare(_ id: String) -> ClusterRecord? {
        interests[id]?.stage = .announced
        return interests[id].map { .addInterest(id: id, $0.key) }
    }

    /// The member was removed: the log has none of its records.
    mutating func reset() { for id in interests.keys { interests[id]?.stage = .unknown } }

    /// Drops the subscriptions without readers for a time; returns the records of those that the log has, and the others.
    mutating func dropIdle(after linger: Duration, at now: Moment) -> (records: [ClusterRecord], undeclared: [String]) {
        var (records, undeclared): ([ClusterRecord], [String]) = ([], [])
        for (id, interest) in interests.sorted(by: { $0.key < $1.key }) {
            guard let since = interest.idleSince, now - since >= linger, interest.stage != .announced else { continue }
            if interest.stage == .inLog { records.append(.removeInterest(id: id)) } else { undeclared.append(id) }
            interests[id] = nil
        }
        return (records, undeclared)
    }
}

/// The shared subscriptions that this member owns, and since when no member has an interest in them.
struct CarriedTopics: Sendable {
    private var ids: Set<String> = []
    private var idleSince: [String: Moment] = [:]
    /// The subscriptions whose `retire` was appended.
    private var retiring: Set<String> = []

    /// A shared subscription has an owner.
    mutating func assigned(_ id: String, in ledger: ClusterLedger, to me: UInt64, at now: Moment) -> [MemberAction] {
        guard let topic = ledger.topics.byID[id] else { return [] }
        guard topic.owner == me else { return remove(id) ? [.drop(id)] : [] }
        add(id, in: ledger, at: now)
        return [.carry(id, topic.key, term: topic.term)]
    }

    /// A member owns the session of a client, with the shared subscriptions that it carries; nil: another one owns it by now.
    mutating func adopted(_ id: String, in ledger: ClusterLedger, by me: UInt64, at now: Moment) -> InheritedSession? {
        guard let session = ledger.sessions[id], ledger.clients[id]?.owner == me else { return nil }
        let owned = ledger.topics.byID.filter { $0.value.owner == me }.sorted { $0.key < $1.key }
        let topics = owned.compactMap { topicID, topic -> InheritedSession.Topic? in
            guard let entry = ledger.subscriptions[topicID], entry.carrier == id, let number = entry.number
            else { return nil }
            return InheritedSession.Topic(id: topicID, key: topic.key, term: topic.term, number: number)
        }
        for topic in topics { add(topic.id, in: ledger, at: now) }
        return InheritedSession(client: id, session: session, topics: topics)
    }

    private mutating func add(_ id: String, in ledger: ClusterLedger, at now: Moment) {
        ids.insert(id)
        noteInterest(id, in: ledger, at: now)
    }

    /// Another member owns a subscription, or it has ended; false if the member did not own it.
    mutating func remove(_ id: String) -> Bool {
        interestAdded(id)
        return ids.remove(id) != nil
    }

    /// A member was removed, with its interests.
    mutating func memberRemoved(in ledger: ClusterLedger, at now: Moment) {
        for id in ids { noteInterest(id, in: ledger, at: now) }
    }

    /// Notes since when no member has an interest in a subscription.
    mutating func noteInterest(_ id: String, in ledger: ClusterLedger, at now: Moment) {
        guard ids.contains(id), idleSince[id] == nil, ledger.topics.byID[id]?.interested.isEmpty == true else { return }
        idleSince[id] = now
    }

    /// A member has an interest in a subscription. Returns whether this member owns it.
    @discardableResult
    mutating func interestAdded(_ id: String) -> Bool {
        idleSince[id] = nil
        retiring.remove(id)
        return ids.contains(id)
    }

    /// The records that end the subscriptions in which no member has had an interest for a time.
    mutating func retire(in ledger: ClusterLedger, after linger: Duration, at now: Moment) -> [ClusterRecord] {
        var records: [ClusterRecord] = []
        for (id, since) in idleSince.sorted(by: { $0.key < $1.key }) where now - since >= linger {
            guard let topic = ledger.topics.byID[id], topic.interested.isEmpty, ids.contains(id) else {
                idleSince[id] = nil
                continue
            }
            if retiring.insert(id).inserted { records.append(.retire(id: id, term: topic.term)) }
        }
        return records
    }
}

extension MemberMachine {
    /// A local reader of a shared subscription was added; streams may be opened on it once `isReady` is true.
    package mutating func addReader(_ id: String, _ key: SharedTopicKey) {
        writer.control += readers.added(id, key, isOver: ledger?.subscriptions[id]?.isActive != true)
    }

    /// Whether a shared subscription has local readers, or the log has it.
    package func needs(_ id: String) -> Bool { readers.contains(id) || ledger?.subscriptions[id] != nil }

    /// Whether the log has the interest of this member in a shared subscription with local readers.
    package func isReady(_ id: String) -> Bool { readers.hasInterest(id) }

    /// A local reader of a shared subscription was removed.
    package mutating func removeReader(_ id: String, at now: Moment) { readers.removed(id, at: now) }
}
