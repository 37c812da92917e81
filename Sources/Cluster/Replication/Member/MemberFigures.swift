package import Primitives

/// The state of a member and of its cluster at a moment, for operators.
package struct MemberFigures: Sendable, Equatable {
    /// Another member, or this one.
    package struct Member: Sendable, Equatable {
        /// Its number.
        package let id: UInt64
        /// The information of its `join` record.
        package let info: MemberInfo
        /// The shared subscriptions that it owns.
        package let subscriptions: Int
        /// Whether the digest of the configuration in its heartbeats differs from that of this member.
        package let hasOtherConfiguration: Bool
    }

    /// Whether there is a connection to the engine.
    package let isConnected: Bool
    /// Whether the member serves its own readers alone, because the engine is away.
    package let isDegraded: Bool
    /// Whether streams may be opened on the member.
    package let isServing: Bool
    /// The number of this member; nil while it does not belong to the cluster.
    package let member: UInt64?
    /// The present epoch; nil while it is not known.
    package let epoch: UInt64?
    /// The position up to which the log is applied.
    package let position: UInt64
    /// The last known position of the log.
    package let known: UInt64
    /// The time for which frames of the log have been missing here.
    package let lag: Duration
    /// All members, this one included, in the order of their numbers.
    package let members: [Member]
    /// The counters since the start of the process.
    package let counters: MemberCounters
}

extension MemberMachine {
    /// The figures of the member.
    package func figures(at now: Moment) -> MemberFigures {
        let owned = (ledger?.topics ?? [:]).values.reduce(into: [UInt64: Int]()) { counts, topic in
            if let owner = topic.owner { counts[owner, default: 0] += 1 }
        }
        let members = (ledger?.members ?? [:]).sorted { $0.key < $1.key }.map { id, member in
            MemberFigures.Member(
                id: id,
                info: member.info,
                subscriptions: owned[id] ?? 0,
                hasOtherConfiguration: configurations[id].map { $0 != configuration } ?? false
            )
        }
        return MemberFigures(
            isConnected: phase != .offline && !isLocal,
            isDegraded: isLocal,
            isServing: isServing(at: now),
            member: isMember ? member : nil,
            epoch: ledger?.epoch,
            position: reader.position,
            known: reader.known,
            lag: behindSince.map { now - $0 } ?? .zero,
            members: members,
            counters: counters
        )
    }

    /// The digest of the member's configuration changed, by a reload.
    package mutating func configurationChanged(_ digest: UInt64) { configuration = digest }

    /// Stores the digest of another member's configuration; reports a new one that differs.
    mutating func noteConfiguration(_ digest: UInt64, of member: UInt64) -> [MemberAction] {
        guard let info = ledger?.members[member]?.info, configurations.updateValue(digest, forKey: member) != digest,
            digest != configuration
        else { return [] }
        return [.reportOtherConfiguration(info)]
    }
}
