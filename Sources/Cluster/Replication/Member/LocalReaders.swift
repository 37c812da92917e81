internal import Primitives

/// The shared subscriptions with local readers: which of them the log has as wanted by this member.
struct LocalReaders: Sendable {
    private struct Hold: Sendable {
        /// All return to `unknown` when the member is removed.
        enum Stage {
            /// Its `want` was not appended yet. *Leaves to* `wanting`.
            case unknown
            /// Its `want` was appended and not read back yet. *Leaves to* `wanted`.
            case wanting
            /// Its `want` was read from the log.
            case wanted
        }

        let key: SharedTopicKey
        var stage = Stage.unknown
        var readers = 0
        var idleSince: Moment?
    }

    private var holds: [String: Hold] = [:]
    /// The subscriptions whose `want` is to be appended.
    private(set) var new: [String] = []

    /// The subscriptions.
    var ids: Set<String> { Set(holds.keys) }

    /// A reader was added. Returns a record by which the owner subscribes again, if the server has refused or ended the
    /// subscription.
    mutating func added(_ id: String, _ key: SharedTopicKey, isRefused: Bool) -> [ClusterRecord] {
        var hold = holds[id] ?? Hold(key: key)
        hold.readers += 1
        hold.idleSince = nil
        holds[id] = hold
        if hold.stage == .unknown { new.append(id) }
        return hold.stage == .wanted && isRefused ? [.want(id: id, key)] : []
    }

    /// A reader was removed.
    mutating func removed(_ id: String, at now: Moment) {
        guard var hold = holds[id] else { return }
        hold.readers -= 1
        if hold.readers <= 0 { hold.idleSince = now }
        holds[id] = hold
    }

    /// Whether the log has the `want` of a subscription.
    func isWanted(_ id: String) -> Bool { holds[id]?.stage == .wanted }

    /// The log has a `want` of this member.
    mutating func wanted(_ id: String) {
        if holds[id]?.stage == .wanting { holds[id]?.stage = .wanted }
    }

    /// The records of new subscriptions, to append now.
    mutating func declareNew() -> [ClusterRecord] {
        defer { new = [] }
        return new.compactMap { holds[$0]?.stage == .unknown ? declare($0) : nil }
    }

    /// The records of all subscriptions, to append now: the member joins.
    mutating func declareAll() -> [ClusterRecord] {
        new = []
        return holds.keys.sorted().compactMap { declare($0) }
    }

    private mutating func declare(_ id: String) -> ClusterRecord? {
        holds[id]?.stage = .wanting
        return holds[id].map { .want(id: id, $0.key) }
    }

    /// The member was removed: the log has none of its records.
    mutating func reset() {
        for id in holds.keys { holds[id]?.stage = .unknown }
    }

    /// Drops the subscriptions without readers for a time; returns their records.
    mutating func dropIdle(after linger: Duration, at now: Moment) -> [ClusterRecord] {
        var records: [ClusterRecord] = []
        for (id, hold) in holds.sorted(by: { $0.key < $1.key }) {
            guard let since = hold.idleSince, now - since >= linger, hold.stage != .wanting else { continue }
            if hold.stage == .wanted { records.append(.unwant(id: id)) }
            holds[id] = nil
        }
        return records
    }
}

/// The shared subscriptions that this member owns, and since when no member wants them.
struct CarriedTopics: Sendable {
    /// The subscriptions.
    private(set) var ids: Set<String> = []
    private var unwantedSince: [String: Moment] = [:]
    /// The subscriptions whose `retire` was appended.
    private var retiring: Set<String> = []

    /// The member owns a subscription.
    mutating func add(_ id: String) { ids.insert(id) }

    /// Another member owns a subscription; false if it did before.
    mutating func remove(_ id: String) -> Bool { ids.remove(id) != nil }

    /// No member wants a subscription any more.
    mutating func unwanted(_ id: String, at now: Moment) {
        if ids.contains(id), unwantedSince[id] == nil { unwantedSince[id] = now }
    }

    /// A member wants a subscription, or it has ended.
    mutating func wantedOrOver(_ id: String) {
        unwantedSince[id] = nil
        retiring.remove(id)
    }

    /// The records that end the subscriptions which no member has wanted for a time.
    mutating func retire(_ topics: [String: ClusterLedger.SharedTopic], after linger: Duration, at now: Moment)
        -> [ClusterRecord]
    {
        var records: [ClusterRecord] = []
        for (id, since) in unwantedSince.sorted(by: { $0.key < $1.key }) where now - since >= linger {
            guard let topic = topics[id], topic.wantedBy.isEmpty, ids.contains(id) else {
                unwantedSince[id] = nil
                continue
            }
            if retiring.insert(id).inserted { records.append(.retire(id: id, tenure: topic.tenure)) }
        }
        return records
    }
}
