/// The units of quotas of the whole cluster that this member uses or is about to use, and what the log knows of them.
///
/// A request first reserves what it will use. Its units are claimed unless the log has accepted them before, and the
/// request is performed once the log has accepted them. What is then used counts until its use ends.
package struct QuotaClaims: Sendable {
    private struct Entry {
        /// The number of requests that may begin to use the unit.
        var reservations = 0
        /// The size of the unit while this member uses it.
        var use: Int?
        /// The size that the log has accepted, or that was declared.
        var known: Int?
        /// Whether the log may have the unit, because the decision on a claim was not received.
        var isUncertain = false
        /// Whether a use ended while the unit was reserved.
        var hasEnded = false
    }

    /// By the id of the unit first, because several callers may use the same subscription.
    private var entries: [String: [QuotaUnit: Entry]] = [:]
    private var claims: UInt64 = 0

    package init() {}

    /// The number of units.
    package var count: Int { entries.values.reduce(0) { $0 + $1.count } }

    // MARK: - Requests

    /// Reserves units for a request; each call needs one call of `endReservation`. Returns the demands that the log has
    /// not accepted yet, and the number of their claim.
    package mutating func reserve(_ demands: [QuotaDemand]) -> (missing: [QuotaDemand], number: UInt64) {
        var missing: [QuotaDemand] = []
        for demand in demands {
            change(demand.unit) { $0.reservations += 1 }
            if self[demand.unit].known.map({ $0 < demand.size }) ?? true { missing.append(demand) }
        }
        if !missing.isEmpty { claims += 1 }
        return (missing, claims)
    }

    /// The log has decided on a claim; nil: the decision was not received in time.
    package mutating func decided(_ demands: [QuotaDemand], _ outcome: RecordOutcome?) {
        for demand in demands {
            change(demand.unit) { entry in
                switch outcome {
                case .accepted: entry.known = max(entry.known ?? 0, demand.size)
                case .refused: break
                default: entry.isUncertain = true
                }
            }
        }
    }

    /// A request is performed, or is not performed at all. Returns the records to write.
    package mutating func endReservation(_ units: [QuotaUnit]) -> [QuotaRecord] {
        units.flatMap { unit in
            change(unit) { $0.reservations -= 1 }
            return settle(unit)
        }
    }

    // MARK: - Uses

    /// This member uses a unit with this size from now on. Returns the records to write.
    package mutating func use(_ unit: QuotaUnit, size: Int = 0) -> [QuotaRecord] {
        change(unit) { $0.use = size }
        return settle(unit)
    }

    /// This member uses a reserved and accepted unit that is used once. False if the use has ended already.
    package mutating func useUnlessEnded(_ unit: QuotaUnit) -> Bool {
        if self[unit].hasEnded { return false }
        change(unit) { $0.use = $0.known }
        return true
    }

    /// This member uses a unit that it has taken over from another one, as the log knows.
    package mutating func inherit(_ unit: QuotaUnit) -> [QuotaRecord] {
        change(unit) { $0.known = 0 }
        return use(unit)
    }

    /// This member no longer uses a unit. Returns the records to write.
    package mutating func endUse(_ unit: QuotaUnit) -> [QuotaRecord] {
        guard entries[unit.id]?[unit] != nil else { return [] }
        change(unit) {
            $0.use = nil
            $0.hasEnded = true
        }
        return settle(unit)
    }

    /// This member does not use units that it was to take over. Returns the records to write.
    package func releaseInherited(_ units: [QuotaUnit]) -> [QuotaRecord] {
        units.filter { entries[$0.id]?[$0] == nil }.map { .release($0) }
    }

    /// This member no longer uses any unit with this id. Returns the records to write.
    package mutating func endUses(of id: String) -> [QuotaRecord] {
        (entries[id]?.keys.map(\.self) ?? []).flatMap { endUse($0) }
    }

    /// The records that declare all units again, after this member has joined under another number.
    package func declarations() -> [QuotaRecord] {
        entries.values.joined().compactMap { unit, entry in entry.known.map { .declare(unit, size: $0) } }
    }

    // MARK: - Entries

    private subscript(_ unit: QuotaUnit) -> Entry { entries[unit.id]?[unit] ?? Entry() }

    private mutating func change(_ unit: QuotaUnit, _ change: (inout Entry) -> Void) {
        change(&entries[unit.id, default: [:]][unit, default: Entry()])
    }

    /// Tells the log what has changed about a unit, unless a request may change it again.
    private mutating func settle(_ unit: QuotaUnit) -> [QuotaRecord] {
        let entry = self[unit]
        guard entry.reservations == 0 else { return [] }
        if let use = entry.use {
            guard entry.known != use else { return [] }
            change(unit) { $0.known = use }
            return [.declare(unit, size: use)]
        }
        entries[unit.id]?[unit] = nil
        if entries[unit.id]?.isEmpty ?? false { entries[unit.id] = nil }
        return entry.known != nil || entry.isUncertain ? [.release(unit)] : []
    }
}

/// Something that counts against a quota of the whole cluster.
package struct QuotaUnit: Sendable, Hashable {
    /// The quota, for instance the streams of a caller.
    package let quota: String
    /// The id of the resource that counts, for instance of a stream. A resource counts once, also if several members have it.
    package let id: String

    /// An open or prepared stream of a caller.
    package static func stream(_ id: String, of identity: String) -> QuotaUnit {
        QuotaUnit(quota: streams + identity, id: id)
    }

    /// A subscription that a caller has created, or that its streams have joined. Its size is the number of its items.
    package static func subscription(_ id: String, of identity: String) -> QuotaUnit {
        QuotaUnit(quota: subscriptions + identity, id: id)
    }

    /// A subscription that a request has created, of any caller.
    package static func createdSubscription(_ id: String) -> QuotaUnit {
        QuotaUnit(quota: createdSubscriptions, id: id)
    }

    /// A client that a request has created.
    package static func dedicatedClient(_ id: String) -> QuotaUnit { QuotaUnit(quota: dedicatedClients, id: id) }

    /// The caller whose quota has a name; nil for a quota of all callers.
    package static func caller(ofQuota name: String) -> String? {
        [streams, subscriptions].first { name.hasPrefix($0) }.map { String(name.dropFirst($0.count)) }
    }

    private static let streams = "streams "
    private static let subscriptions = "subscriptions "

    /// The quotas of the resources of all callers.
    package static let createdSubscriptions = "created subscriptions"
    package static let dedicatedClients = "dedicated clients"
}

/// The greatest number of units of a quota, and the greatest sum of their sizes; nil: unlimited.
package struct QuotaLimits: Sendable, Equatable {
    /// The greatest number of units.
    package var count: Int?
    /// The greatest sum of their sizes.
    package var size: Int?

    /// Limits; without arguments: none.
    package init(count: Int? = nil, size: Int? = nil) {
        self.count = count
        self.size = size
    }

    /// Whether nothing is limited.
    package var isUnlimited: Bool { count == nil && size == nil }

    static let wire = Wire<Self>(Self.init, (\.count, .optional(.signed)), (\.size, .optional(.signed)))
}

/// A unit that a member needs.
package struct QuotaDemand: Sendable, Equatable {
    package let unit: QuotaUnit
    /// The size of the unit; 0 where the quota has no sizes.
    package let size: Int
    package let limits: QuotaLimits

    package init(_ unit: QuotaUnit, size: Int = 0, limits: QuotaLimits) {
        self.unit = unit
        // The sum of many sizes must not overflow.
        self.size = min(max(size, 0), Wire<Int>.maxSize)
        self.limits = limits
    }

    /// The first limit of the unit, for a claim that was refused although the unit fits by now.
    package var excess: QuotaExcess {
        QuotaExcess(unit: unit, limit: limits.count ?? limits.size ?? 0, isSize: limits.count == nil)
    }

    static let wire = Wire<Self>(Self.init, (\.unit, .unit), (\.size, .size), (\.limits, QuotaLimits.wire))
}

/// A record about units of quotas.
package enum QuotaRecord: Sendable, Equatable {
    /// The writer has these units from now on: all of them, or none if one of them exceeds a limit. The number
    /// identifies the decision among those for the writer.
    case claim([QuotaDemand], number: UInt64)
    /// The writer has a unit of this size already. Never refused.
    case declare(QuotaUnit, size: Int)
    /// The writer no longer has the unit.
    case release(QuotaUnit)

    static let wire = Wire<Self>(cases: [
        Case(1, .varint, .list(QuotaDemand.wire), make: { .claim($1, number: $0) }) {
            if case .claim(let demands, let number) = $0 { (number, demands) } else { nil }
        },
        Case(2, .unit, make: Self.release) { if case .release(let unit) = $0 { unit } else { nil } },
        Case(3, .unit, .size, make: Self.declare) {
            if case .declare(let unit, let size) = $0 { (unit, size) } else { nil }
        },
    ])
}

extension Wire<QuotaUnit> { fileprivate static let unit = Wire(QuotaUnit.init, (\.quota, .string), (\.id, .string)) }
