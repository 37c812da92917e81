package import Primitives

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

/// Whether a member answers requests, and what it knows.
extension MemberMachine {
    /// Whether streams may be opened on this member, and requests answered from its ledger: not before it has read what
    /// the log had when its connection was opened.
    package func isServing(at now: Moment) -> Bool {
        isFollowing && position >= inspections.last && reader.unproven == nil && monitor.isReachable(at: now)
    }

    /// Whether this member serves resources, which belong to the whole cluster: not while members are silent and the log does not
    /// take a frame of this one. The servers of the engine may be divided then, and the silent members may have removed this
    /// one and changed what it had.
    package func servesResources(at now: Moment) -> Bool {
        guard isServing(at: now), isMember, !isLocal else { return false }
        guard hasSuspects, let since = writer.waitingSince else { return true }
        return now - since < timings.echoTimeout
    }

    /// Whether no other member can have adopted the sessions of this one: it is not leaving, has not been missing frames
    /// for `fetchDelay`, and its last heartbeat is too recent for others to suspect it.
    package func ownsSessions(at now: Moment) -> Bool {
        let isBehind = reader.behindSince.map { now - $0 >= timings.fetchDelay } ?? false
        return isServing(at: now) && isMember && !writer.removing.contains(member) && !isBehind
    }

    /// Whether an epoch is an earlier one of this member: its state is newer than all events of that epoch.
    package func isPast(_ epoch: UInt64) -> Bool {
        guard let ledger else { return false }
        return ledger.earlierEpochs.contains(epoch) || history.wasIn(epoch, before: ledger.epoch)
    }

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
