/// The installed faults, with the occasions that each has counted.
package struct FaultPlan: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        var fault: Fault
        var skipped = 0
        var applied = 0
    }

    private var entries: [Entry] = []

    /// Greatest number of installed faults; further ones are ignored.
    package static let capacity = 1_000

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package mutating func install(_ fault: Fault) {
        if entries.count < FaultPlan.capacity { entries.append(Entry(fault: fault)) }
    }

    package mutating func clear() { entries.removeAll() }

    /// The effects at this moment, in the order of their installation.
    package mutating func effects(at moment: FaultMoment) -> [FaultEffect] {
        guard !entries.isEmpty else { return [] }
        var effects: [FaultEffect] = []
        for index in entries.indices where entries[index].fault.moment == moment {
            guard entries[index].skipped >= entries[index].fault.skip else {
                entries[index].skipped += 1
                continue
            }
            entries[index].applied += 1
            effects.append(entries[index].fault.effect)
        }
        entries.removeAll { $0.applied >= $0.fault.times }
        return effects
    }

    package mutating func effects(at requests: FaultRequest...) -> [FaultEffect] {
        entries.isEmpty ? [] : requests.flatMap { effects(at: .request($0)) }
    }
}
