/// All faults in place, and which of them strikes next.
package struct FaultPlan: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        var fault: Fault
        var passed = 0
        var struck = 0
    }

    private var entries: [Entry] = []

    /// Faults that can be in place at a time; further ones are ignored.
    package static let capacity = 1_000

    /// Nothing goes wrong.
    package init() {}

    /// Whether nothing will go wrong.
    package var isEmpty: Bool { entries.isEmpty }

    /// Adds a fault that waits for its moment.
    package mutating func install(_ fault: Fault) {
        if entries.count < FaultPlan.capacity { entries.append(Entry(fault: fault)) }
    }

    /// Takes all faults away.
    package mutating func clear() {
        entries.removeAll()
    }

    /// The effects that strike at this moment, in the order in which they were installed.
    package mutating func strikes(at moment: FaultMoment) -> [FaultEffect] {
        guard !entries.isEmpty else { return [] }
        var effects: [FaultEffect] = []
        for index in entries.indices where entries[index].fault.moment == moment {
            guard entries[index].passed >= entries[index].fault.skip else {
                entries[index].passed += 1
                continue
            }
            entries[index].struck += 1
            effects.append(entries[index].fault.effect)
        }
        entries.removeAll { $0.struck >= $0.fault.times }
        return effects
    }

    /// The effects that strike at any of these moments.
    package mutating func strikes(at requests: FaultRequest...) -> [FaultEffect] {
        entries.isEmpty ? [] : requests.flatMap { strikes(at: .request($0)) }
    }
}
