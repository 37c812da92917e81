internal import Changes

/// The owner of a client or subscription, as this process sees it.
package enum ResourceHolder: Sendable, Equatable {
    /// This member.
    case own
    /// The member in this process.
    case process(UInt64)
    /// No member at the moment: its owner was removed, and another one will be assigned.
    case none
    /// There is no such client or subscription.
    case unknown
}

extension MemberMachine {
    /// The owner of a client or subscription, according to the log as far as this member has applied it.
    package func holder(of id: String) -> ResourceHolder {
        guard let ledger, let owner = ledger.owner(of: id) else { return .unknown }
        guard let owner else { return .none }
        if owner == member { return .own }
        return ledger.members[owner].map { .process($0.info.process) } ?? .none
    }

    /// The member that a process is; nil: none.
    package func member(of process: UInt64) -> UInt64? {
        ledger?.members.first { $0.value.info.process == process }?.key
    }

    /// Whether the log has removed a member.
    package func isRemoved(_ member: UInt64) -> Bool { ledger?.removed.contains(member) ?? false }
}

extension ClusterLedger {
    /// The owner of a client or subscription. Outer nil: it does not exist; inner nil: it has no owner at the moment.
    func owner(of id: String) -> UInt64?? {
        if let topic = topics.byID[id] { return .some(topic.owner) }
        if let resource = specified[id] { return .some(resource.owner) }
        if let client = clients[id] { return .some(client.owner) }
        return subscriptions[id].map(\.owner)
    }

    /// Whether a member can own a client, subscription or stream: one that has the upstream of the resource.
    package func canBeOwned(_ id: String) -> Bool {
        guard let upstream = topics.byID[id]?.key.upstream ?? specified[id]?.specification.upstream else { return true }
        return !able(upstream).isEmpty
    }
}
