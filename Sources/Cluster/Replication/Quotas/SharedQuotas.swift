/// The units of quotas that are in use, and the members that have them.
package struct SharedQuotas: Sendable, Equatable {
    struct Use: Sendable, Equatable {
        /// The members that have it, at least one, in ascending order.
        var members: [UInt64]
        var size: Int

        static let wire = Wire<Self>({ Self(members: $1, size: $0) }, (\.size, .size), (\.members, .list(.fixed64)))
    }

    /// The units of one quota by id, and the sum of their sizes.
    struct Quota: Sendable, Equatable {
        private(set) var uses: [String: Use] = [:]
        private(set) var size = 0

        mutating func set(_ id: String, _ use: Use?) {
            size += (use?.size ?? 0) - (uses[id]?.size ?? 0)
            uses[id] = use
        }
    }

    private(set) var quotas: [String: Quota] = [:]

    init() {}

    /// The units of quotas that another member knows.
    init(_ uses: [String: [String: Use]]) {
        quotas = uses.mapValues { uses in
            var quota = Quota()
            for (id, use) in uses { quota.set(id, use) }
            return quota
        }
    }

    /// The units of a quota that are in use, and the sum of their sizes.
    package func used(of quota: String) -> (count: Int, size: Int) {
        quotas[quota].map { ($0.uses.count, $0.size) } ?? (0, 0)
    }

    /// The callers whose units are in use.
    package var callers: Set<String> { Set(quotas.keys.compactMap { QuotaUnit.caller(ofQuota: $0) }) }

    /// The ids of the subscriptions that each caller uses.
    package var heldSubscriptions: [String: Set<String>] {
        callers.reduce(into: [:]) { held, identity in
            held[identity] = quotas[QuotaUnit.subscription("", of: identity).quota].map { Set($0.uses.keys) }
        }
    }

    /// Whether a member has a unit.
    package func contains(_ unit: QuotaUnit, of member: UInt64) -> Bool { use(unit)?.members.contains(member) ?? false }

    private func use(_ unit: QuotaUnit) -> Use? { quotas[unit.quota]?.uses[unit.id] }

    /// The first limit that these units would exceed together; nil: they fit.
    package func excess(of demands: [QuotaDemand]) -> QuotaExcess? {
        var added: [String: (count: Int, size: Int)] = [:]
        for demand in demands {
            let quota = demand.unit.quota
            let present = use(demand.unit)
            let used = used(of: quota)
            var more = added[quota] ?? (0, 0)
            if present == nil {
                more.count += 1
                if let limit = demand.limits.count, used.count + more.count > limit {
                    return QuotaExcess(unit: demand.unit, limit: limit, isSize: false)
                }
            }
            if demand.size > present?.size ?? 0 {
                more.size += demand.size - (present?.size ?? 0)
                if let limit = demand.limits.size, used.size + more.size > limit {
                    return QuotaExcess(unit: demand.unit, limit: limit, isSize: true)
                }
            }
            added[quota] = more
        }
        return nil
    }

    /// Adds units of a member, all or none; false if they exceed a limit.
    mutating func claim(_ demands: [QuotaDemand], by member: UInt64) -> Bool {
        guard excess(of: demands) == nil else { return false }
        for demand in demands { add(demand.unit, size: max(demand.size, use(demand.unit)?.size ?? 0), by: member) }
        return true
    }

    /// Adds a unit of a member, or changes its size, whatever the limits.
    mutating func add(_ unit: QuotaUnit, size: Int, by member: UInt64) {
        var members = use(unit)?.members ?? []
        if !members.contains(member) { members = (members + [member]).sorted() }
        quotas[unit.quota, default: Quota()].set(unit.id, Use(members: members, size: size))
    }

    mutating func release(_ unit: QuotaUnit, by member: UInt64) {
        guard var use = use(unit), let index = use.members.firstIndex(of: member) else { return }
        use.members.remove(at: index)
        quotas[unit.quota]?.set(unit.id, use.members.isEmpty ? nil : use)
        if quotas[unit.quota]?.uses.isEmpty ?? false { quotas[unit.quota] = nil }
    }

    /// Another member also has a unit from now on, if the first one has it.
    mutating func share(_ unit: QuotaUnit, of member: UInt64, with other: UInt64) {
        guard let use = use(unit), use.members.contains(member) else { return }
        add(unit, size: use.size, by: other)
    }

    /// Another member takes over a unit, if the former one has it.
    mutating func move(_ unit: QuotaUnit, from former: UInt64, to member: UInt64) {
        share(unit, of: former, with: member)
        if former != member { release(unit, by: former) }
    }

    mutating func releaseAll(of member: UInt64) {
        for (name, quota) in quotas {
            for (id, use) in quota.uses where use.members.contains(member) {
                release(QuotaUnit(quota: name, id: id), by: member)
            }
        }
    }

    static let wire = Wire<[String: [String: Use]]>.dictionary(.string, .dictionary(.string, Use.wire)).map {
        (quotas: SharedQuotas) in
        quotas.quotas.mapValues(\.uses)
    } from: {
        SharedQuotas($0)
    }
}

/// A limit that a demand would exceed.
package struct QuotaExcess: Sendable, Equatable {
    /// The unit that does not fit.
    package let unit: QuotaUnit
    package let limit: Int
    /// Whether the sizes exceed the limit, and not the number of units.
    package let isSize: Bool
}

extension ClusterLedger {
    /// A member takes over a resource, which continues to count.
    mutating func moveQuotas(of id: String, from former: UInt64, to member: UInt64) {
        guard let resource = specified[id] else { return }
        let identity = resource.specification.owner
        if resource.isOpen == nil {
            quotas.move(.createdSubscription(id), from: former, to: member)
            quotas.move(.dedicatedClient(id), from: former, to: member)
            if let identity { quotas.move(.subscription(id, of: identity), from: former, to: member) }
            return
        }
        guard let identity else { return }
        quotas.move(.stream(id, of: identity), from: former, to: member)
        guard let definition = try? StreamDefinition(resource.specification.content) else { return }
        // Other streams of the former owner may have joined the same subscriptions.
        for topic in definition.shared.keys {
            quotas.share(.subscription(topic, of: identity), of: former, with: member)
        }
    }

    mutating func apply(_ record: QuotaRecord, by member: UInt64) {
        switch record {
        case .claim(let demands, let number):
            let isAccepted = quotas.claim(demands, by: member)
            effects.append(.order(.report(.quota(number), isAccepted ? .accepted : .refused), to: member))
        case .declare(let unit, let size): quotas.add(unit, size: size, by: member)
        case .release(let unit): quotas.release(unit, by: member)
        }
    }
}
