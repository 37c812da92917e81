internal import Changes
internal import Cryptography
internal import EventHub
internal import Gateway
internal import Primitives
internal import Replication
internal import SessionCore

/// The streams of this member, and the shared subscriptions that they read.
extension ClusterNode {
    /// Adds a stream of a shared subscription, whose topic is added to the hub. Each call needs one call of `removeReader`.
    /// Returns the id of the topic, and whether the hub did not know it.
    func addReader(of key: SharedTopicKey) -> (id: String, isNew: Bool) {
        let id = self.id(of: key)
        state.withLock { $0.machine.addReader(id, key) }
        let topic = SubscriptionID(id)
        let isNew = !hub.knows(.subscription(topic))
        if isNew {
            hub.take([.subscription(topic, .added(key.properties)), .subscription(topic, .activity(isActive: true))])
        }
        wake()
        return (id, isNew)
    }

    /// The id of a shared subscription: the same on every member, and unpredictable without the cluster's secret.
    func id(of topic: SharedTopicKey) -> String {
        let code = SHA256.code(of: topic.bytes, key: Array((configuration.secret ?? "").utf8))
        return "s" + String(decoding: code.prefix(16).map { RandomID.character(of: UInt64($0)) }, as: UTF8.self)
    }

    func removeReader(of id: String) { state.withLock { $0.machine.removeReader(id, at: clock()) } }

    /// Removes a shared subscription from the hub, unless a reader has come meanwhile.
    func forget(_ id: String, _ applier: inout ClusterApplier) {
        // Inside the lock: `addReader` adds the topic again if it comes later.
        state.withLock { state in
            if !state.machine.needs(id) { applier.forget(SubscriptionID(id)) }
        }
    }

    /// The wait of a stream for its conditions, after which the hub begins the stream, or closes it at the deadline; nil if the
    /// conditions hold.
    func wait(of request: StreamRequest, topics: Set<String>) -> (@Sendable (_ stream: String) -> Void)? {
        let last = request.lastEventID.flatMap { EventID($0) }
        let condition: MemberReports.Condition = { [hub] machine, now in
            guard machine.isServing(at: now), topics.allSatisfy({ machine.isReady($0) }) else { return false }
            // No stream begins with an older state than that of its last event.
            guard let last else { return true }
            let present = hub.lastID
            return last.epoch != present.epoch || last.sequence <= present.sequence
        }
        // The epoch of the last event may be a later one.
        let needsEnd = last.map { !isKnown($0.epoch) } ?? false
        let now = clock()
        if !needsEnd, state.withLock({ condition($0.machine, now) }) { return nil }
        let deadline = now + configuration.openWait
        return { [self] stream in
            guard needsEnd else { return begin(stream, when: condition, until: deadline) }
            addJob { [self] in
                let isRead = await appliesEnd()
                begin(stream, when: { isRead && condition($0, $1) }, until: deadline)
            }
        }
    }

    private func begin(_ stream: String, when condition: @escaping MemberReports.Condition, until deadline: Moment) {
        when(condition, until: deadline) { [hub] holds in
            if holds { hub.begin(stream: stream) } else { hub.close(stream: stream, reason: EventHub.behind) }
        }
        wake()
    }

    /// Whether an epoch is the present one or an earlier one of this member.
    private func isKnown(_ name: String) -> Bool {
        if name == hub.lastID.epoch { return true }
        guard let epoch = ClusterApplier.epoch(of: name) else { return false }
        return state.withLock { $0.machine.isPast(epoch) }
    }

    var isServing: Bool { state.withLock { $0.machine.isServing(at: clock()) && $0.machine.isMember } }
}
