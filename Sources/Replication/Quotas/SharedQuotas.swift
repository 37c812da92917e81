/// Something that counts against a quota of the whole cluster.
package struct QuotaUnit: Sendable, Hashable {
    /// The quota, for instance the streams of a caller.
    package let quota: String
    /// What counts, for instance the id of a stream. It counts once, also if several members have it.
    package let id: String

    /// A unit of a quota.
    package init(quota: String, id: String) {
        self.quota = quota
        self.id = id
    }

    /// An open or prepared stream of a caller.
    package static func stream(_ id: String, of identity: String) -> QuotaUnit {
        QuotaUnit(quota: "streams \(identity)", id: id)
    }
}

/// A record about a unit of a quota.
package enum QuotaRecord: Sendable, Equatable {
    /// The writer has the unit from now on. Refused if as many other units as the limit are in use. Nil: never refused,
    /// for a unit that the writer has already.
    case claim(QuotaUnit, limit: Int?)
    /// The writer no longer has the unit.
    case release(QuotaUnit)
}

/// The units of quotas that are in use, and the members that have them.
struct SharedQuotas: Sendable, Equatable {
    /// The members that have a unit, by quota and id.
    private(set) var members: [String: [String: Set<UInt64>]]

    /// The units in use.
    init(_ members: [String: [String: Set<UInt64>]] = [:]) { self.members = members }

    /// The number of units of a quota that are in use.
    func count(of quota: String) -> Int { members[quota]?.count ?? 0 }

    /// Adds a unit of a member; false if the quota is used up.
    mutating func claim(_ unit: QuotaUnit, limit: Int?, by member: UInt64) -> Bool {
        let isNew = members[unit.quota]?[unit.id] == nil
        if isNew, let limit, count(of: unit.quota) >= limit { return false }
        members[unit.quota, default: [:]][unit.id, default: []].insert(member)
        return true
    }

    /// Removes a unit of a member.
    mutating func release(_ unit: QuotaUnit, by member: UInt64) {
        guard members[unit.quota]?[unit.id]?.remove(member) != nil else { return }
        if members[unit.quota]?[unit.id]?.isEmpty ?? false { members[unit.quota]?[unit.id] = nil }
        if members[unit.quota]?.isEmpty ?? false { members[unit.quota] = nil }
    }

    /// Whether a member has a unit.
    func contains(_ unit: QuotaUnit, of member: UInt64) -> Bool {
        members[unit.quota]?[unit.id]?.contains(member) ?? false
    }

    /// Another member takes over a unit, if the former one has it.
    mutating func move(_ unit: QuotaUnit, from former: UInt64, to member: UInt64) {
        guard members[unit.quota]?[unit.id]?.remove(former) != nil else { return }
        members[unit.quota]?[unit.id]?.insert(member)
    }

    /// Removes all units of a removed member.
    mutating func releaseAll(of member: UInt64) {
        for (quota, units) in members {
            for id in units.keys { release(QuotaUnit(quota: quota, id: id), by: member) }
        }
    }
}

extension ClusterLedger {
    /// The number of units of a quota that are in use.
    package func used(of quota: String) -> Int { quotas.count(of: quota) }

    /// Whether a member has a unit of a quota.
    package func isInUse(_ unit: QuotaUnit, by member: UInt64) -> Bool { quotas.contains(unit, of: member) }

    /// A member takes over a prepared stream, which counts for its owner if it did before.
    mutating func moveQuota(ofStream id: String, from former: UInt64, to member: UInt64) {
        guard let stream = specified[id], stream.isOpen != nil, let identity = stream.specification.owner else {
            return
        }
        quotas.move(.stream(id, of: identity), from: former, to: member)
    }

    mutating func apply(_ record: QuotaRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        switch record {
        case .claim(let unit, let limit):
            let isAccepted = quotas.claim(unit, limit: limit, by: member)
            // No request waits for a unit that its member has already.
            if limit != nil { effects.append(.decided(.quota(unit), by: member, isAccepted ? .accepted : .refused)) }
        case .release(let unit):
            quotas.release(unit, by: member)
        }
    }
}

/// One byte for each case of a `QuotaRecord`.
private enum QuotaTag {
    static let claim: UInt8 = 1
    static let release: UInt8 = 2
}

extension ByteWriter {
    mutating func quota(_ record: QuotaRecord) {
        switch record {
        case .claim(let unit, let limit):
            byte(QuotaTag.claim)
            self.unit(unit)
            optional(limit) { $0.signed($1) }
        case .release(let unit):
            byte(QuotaTag.release)
            self.unit(unit)
        }
    }

    mutating func quotas(_ quotas: SharedQuotas) {
        list(quotas.members.sorted { $0.key < $1.key }) { writer, quota in
            writer.string(quota.key)
            writer.list(quota.value.sorted { $0.key < $1.key }) { writer, unit in
                writer.string(unit.key)
                writer.list(unit.value.sorted()) { $0.fixed64($1) }
            }
        }
    }

    private mutating func unit(_ unit: QuotaUnit) {
        string(unit.quota)
        string(unit.id)
    }
}

extension ByteReader {
    mutating func quota() throws(CodingError) -> QuotaRecord {
        switch try byte() {
        case QuotaTag.claim:
            let unit = try unit()
            return .claim(unit, limit: try optional { reader throws(CodingError) in try reader.signed() })
        case QuotaTag.release: return .release(try unit())
        default: throw .malformed
        }
    }

    mutating func quotas() throws(CodingError) -> SharedQuotas {
        var members: [String: [String: Set<UInt64>]] = [:]
        for _ in 0..<(try varint()) {
            let quota = try string()
            for _ in 0..<(try varint()) {
                let id = try string()
                let holders = try list { reader throws(CodingError) in try reader.fixed64() }
                guard !holders.isEmpty else { throw .malformed }
                members[quota, default: [:]][id] = Set(holders)
            }
        }
        return SharedQuotas(members)
    }

    private mutating func unit() throws(CodingError) -> QuotaUnit {
        QuotaUnit(quota: try string(), id: try string())
    }
}
