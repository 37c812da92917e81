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

/// One byte for each case of a `QuotaRecord`.
private enum QuotaTag {
    static let claim: UInt8 = 1
    static let release: UInt8 = 2
    static let declare: UInt8 = 3
}

extension ByteWriter {
    mutating func quota(_ record: QuotaRecord) {
        switch record {
        case .claim(let demands, let number):
            byte(QuotaTag.claim)
            varint(number)
            list(demands) { writer, demand in
                writer.unit(demand.unit)
                writer.size(demand.size)
                writer.optional(demand.limits.count) { $0.signed($1) }
                writer.optional(demand.limits.size) { $0.signed($1) }
            }
        case .declare(let unit, let size):
            byte(QuotaTag.declare)
            self.unit(unit)
            self.size(size)
        case .release(let unit):
            byte(QuotaTag.release)
            self.unit(unit)
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
            let number = try varint()
            return .claim(try list { reader throws(CodingError) in try reader.demand() }, number: number)
        case QuotaTag.declare: return .declare(try unit(), size: try size())
        case QuotaTag.release: return .release(try unit())
        default: throw .malformed
        }
    }

    private mutating func demand() throws(CodingError) -> QuotaDemand {
        QuotaDemand(
            try unit(),
            size: try size(),
            limits: QuotaLimits(
                count: try optionalSigned(),
                size: try optionalSigned()
            )
        )
    }

    private mutating func unit() throws(CodingError) -> QuotaUnit {
        QuotaUnit(quota: try string(), id: try string())
    }
}
