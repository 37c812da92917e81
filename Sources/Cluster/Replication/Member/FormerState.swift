/// What a member had in the cluster when it lost the state of the cluster.
struct FormerState: Sendable {
    /// The epoch and the position up to which the member had applied the log.
    private var read: (epoch: UInt64, position: UInt64)?
    /// The members that were removed up to there.
    private(set) var removed: [UInt64] = []
    /// The specified resources that the member of a number owned in an epoch, and whether each of them is a prepared stream.
    private var resources: (epoch: UInt64, member: UInt64, areStreams: [String: Bool])?

    mutating func lost(_ ledger: ClusterLedger, of member: UInt64, _ handedOver: HandedOverStreams, at position: UInt64)
    {
        read = (ledger.epoch, position)
        removed = ledger.removed
        var areStreams = ledger.specified.filter { $0.value.owner == member }.mapValues { $0.isOpen != nil }
        for id in handedOver.openings.keys { areStreams[id] = true }
        resources = (ledger.epoch, member, areStreams)
    }

    /// Whether the member had read more than a ledger: a reply to an earlier request, for instance.
    func isNewer(than ledger: ClusterLedger) -> Bool {
        guard let read else { return false }
        return ledger.epoch == read.epoch && ledger.position < read.position
    }

    /// In a new epoch, all members report what they have.
    mutating func epochBegan() { resources = nil }

    /// Orders to release the resources that the member owned earlier in the epoch of a ledger, or in an earlier epoch in which the
    /// member was removed: other members have inherited them, and may have deleted them. The member must not report them again.
    mutating func release(in ledger: ClusterLedger) -> [MemberAction] {
        defer { resources = nil }
        guard let resources, resources.epoch == ledger.epoch || ledger.removed.contains(resources.member) else {
            return []
        }
        return resources.areStreams.sorted { $0.key < $1.key }.map { id, isStream in
            isStream ? .releaseStream(id) : .releaseResource(id)
        }
    }
}
