/// Something that counts against a quota of the whole cluster.
package struct QuotaUnit: Sendable, Hashable {
    /// The quota, for instance the streams of a caller.
    package let quota: String
    /// What counts, for instance the id of a stream. It counts once, also if several members have it.
    package let id: String

    /// An open or prepared stream of a caller.
    package static func stream(_ id: String, of identity: String) -> QuotaUnit {
        QuotaUnit(quota: streams + identity, id: id)
    }

    /// A subscription that a caller has created, or that streams of the caller have joined. Its size is the number of its
    /// items.
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
    static func caller(ofQuota name: String) -> String? {
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
}

/// A unit that a member needs.
package struct QuotaDemand: Sendable, Equatable {
    /// The unit.
    package let unit: QuotaUnit
    /// Its size, from 0 on; 0 where the quota has no sizes.
    package let size: Int
    /// The limits of its quota.
    package let limits: QuotaLimits

    /// A demand.
    package init(_ unit: QuotaUnit, size: Int = 0, limits: QuotaLimits) {
        self.unit = unit
        // The sum of many sizes must not overflow.
        self.size = min(max(size, 0), ByteWriter.maxSize)
        self.limits = limits
    }
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
}

extension Wire<QuotaRecord> {
    static let quota = Wire(cases: [
        Case(1, .varint, .list(.demand), make: { .claim($1, number: $0) }) {
            if case .claim(let demands, let number) = $0 { (number, demands) } else { nil }
        },
        Case(2, .unit, make: { .release($0) }) { if case .release(let unit) = $0 { unit } else { nil } },
        Case(3, .unit, .size, make: { .declare($0, size: $1) }) {
            if case .declare(let unit, let size) = $0 { (unit, size) } else { nil }
        },
    ])
}

extension Wire<QuotaDemand> {
    fileprivate static let demand = Wire(QuotaDemand.init, (\.unit, .unit), (\.size, .size), (\.limits, .limits))
}

extension Wire<QuotaLimits> {
    fileprivate static let limits = Wire(
        QuotaLimits.init,
        (\.count, .optional(.signed)),
        (\.size, .optional(.signed))
    )
}

extension Wire<QuotaUnit> {
    fileprivate static let unit = Wire(QuotaUnit.init, (\.quota, .string), (\.id, .string))
}
