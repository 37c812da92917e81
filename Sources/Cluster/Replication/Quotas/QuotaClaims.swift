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

    /// No units.
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
    package mutating func decided(_ demands: [QuotaDemand], isAccepted: Bool?) {
        for demand in demands {
            change(demand.unit) { entry in
                switch isAccepted {
                case true?: entry.known = max(entry.known ?? 0, demand.size)
                case false?: break
                case nil: entry.isUncertain = true
                }
            }
        }
    }

    /// A request is performed, or is not performed at all. Returns the records to write.
    package mutating func endReservation(_ units: [QuotaUnit]) -> [QuotaRecord] {
        units.compactMap { unit in
            change(unit) { $0.reservations -= 1 }
            return settle(unit)
        }
    }

    // MARK: - Uses

    /// This member uses a unit with this size from now on. Returns the records to write.
    package mutating func use(_ unit: QuotaUnit, size: Int = 0) -> [QuotaRecord] {
        change(unit) { $0.use = size }
        return [settle(unit)].compactMap(\.self)
    }

    /// This member uses a reserved unit that the log has accepted, and that is used once. False if the use has ended
    /// already.
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
        return [settle(unit)].compactMap(\.self)
    }

    /// This member does not use units that it was to take over. Returns the records to write.
    package func disown(_ units: [QuotaUnit]) -> [QuotaRecord] {
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
    private mutating func settle(_ unit: QuotaUnit) -> QuotaRecord? {
        let entry = self[unit]
        guard entry.reservations == 0 else { return nil }
        if let use = entry.use {
            guard entry.known != use else { return nil }
            change(unit) { $0.known = use }
            return .declare(unit, size: use)
        }
        entries[unit.id]?[unit] = nil
        if entries[unit.id]?.isEmpty ?? false { entries[unit.id] = nil }
        return entry.known != nil || entry.isUncertain ? .release(unit) : nil
    }
}
