internal import Changes
internal import Primitives

/// The upstreams that no member has any more, and since when this member has known that. Their resources are kept for some
/// time, for a member that has the upstream again. The time begins again while members have different versions: upstreams
/// that reloads add meanwhile are not in the ledger.
struct LostUpstreams: Sendable {
    private static let lifetime = Duration.seconds(3600)
    /// The time between two searches, which look at all resources.
    private static let interval = Duration.seconds(60)

    private var since: [String: Moment] = [:]
    private var nextSearch = Moment.zero

    /// The records that a member writes now. One member writes them.
    mutating func ended(in ledger: ClusterLedger, by member: UInt64, at now: Moment) -> [ClusterRecord] {
        guard now >= nextSearch else { return [] }
        nextSearch = now + Self.interval
        let lost = ledger.haveOneVersion ? ledger.lostUpstreams : []
        since = Dictionary(uniqueKeysWithValues: lost.map { ($0, since[$0] ?? now) })
        guard ledger.members.keys.min() == member else { return [] }
        return since.filter { now - $0.value >= Self.lifetime }.keys.sorted().map { .endUpstream($0) }
    }
}

extension ClusterLedger {
    var haveOneVersion: Bool { Set(members.values.map(\.info.version)).count == 1 }

    /// The upstreams of resources and shared subscriptions that no member can own.
    var lostUpstreams: Set<String> {
        let resources = specified.values.filter { $0.owner == nil }.compactMap(\.specification.upstream)
        let shared = topics.byID.values.filter { $0.owner == nil }.map(\.key.upstream)
        return Set(resources + shared).filter { able($0).isEmpty }
    }

    /// Removes what belongs to an upstream that no member has. What a member has opened before a reload removed the upstream
    /// has an owner, and stays.
    mutating func end(_ upstream: String) {
        guard able(upstream).isEmpty else { return }
        let lost = specified.filter { $0.value.owner == nil && $0.value.specification.upstream == upstream }
            .keys.sorted()
        let shared = topics.byID.filter { $0.value.key.upstream == upstream && $0.value.owner == nil }.keys.sorted()
        let subscriptions = lost.filter { clients[$0] == nil } + shared
        let ended = lost.filter { clients[$0] != nil }.map { Change.client(ClientID($0), .removed) }
        for id in shared { topics.remove(id) }
        for change in subscriptions.map({ Change.subscription(SubscriptionID($0), .removed) }) + ended {
            note(change, by: 0)
            effects.append(.hub(change))
        }
    }
}

extension MemberMachine {
    /// The record of the upstreams that a reload has changed, until the log has it. None while members have different versions:
    /// earlier versions do not know the record, and would assign nothing by it.
    func changedUpstreams(in ledger: ClusterLedger) -> [ClusterRecord] {
        let record = ClusterRecord.upstreams(info.upstreams)
        guard isMember, writer.isIdle, info.upstreams != ledger.members[member]?.info.upstreams,
            ledger.haveOneVersion, !writer.control.contains(record)
        else { return [] }
        return [record]
    }
}
