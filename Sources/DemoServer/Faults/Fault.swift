/// One piece of scripted misbehaviour: what happens, when, and how often.
package struct Fault: Sendable, Hashable {
    /// What goes wrong.
    package var effect: FaultEffect

    /// When it strikes.
    package var moment: FaultMoment

    /// Occasions that pass before it strikes for the first time.
    package var skip: Int

    /// How many times it strikes before it is used up; `Int.max` stands for always.
    package var times: Int

    /// Puts a fault together.
    ///
    /// - Parameters:
    ///   - effect: What goes wrong.
    ///   - moment: When it strikes; nil takes the effect's own natural moment.
    ///   - skip: Occasions to let pass first.
    ///   - times: Number of strikes; at least 1.
    package init(_ effect: FaultEffect, at moment: FaultMoment? = nil, skip: Int = 0, times: Int = 1) {
        self.effect = effect
        self.moment = moment ?? effect.naturalMoment
        self.skip = max(0, skip)
        self.times = max(1, times)
    }
}
