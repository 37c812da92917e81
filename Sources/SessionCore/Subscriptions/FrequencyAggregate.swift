/// The highest frequency in force on the two levels of a subscription.
///
/// It counts how many second-level subscriptions were told each frequency, so that one of thousands that goes away
/// does not make it look at all the others.
struct FrequencyAggregate: Sendable {
    private var firstLevel: RealMaxFrequency?
    private var secondLevels: [RealMaxFrequency: Int] = [:]
    private var told: RealMaxFrequency?

    /// The first level was told a frequency.
    mutating func firstLevelTold(_ frequency: RealMaxFrequency) { firstLevel = frequency }

    /// A second-level subscription was told a frequency in place of an earlier one, or went away (nil).
    mutating func secondLevelTold(_ frequency: RealMaxFrequency?, insteadOf earlier: RealMaxFrequency?) {
        if let frequency { secondLevels[frequency, default: 0] += 1 }
        if let earlier, let count = secondLevels[earlier] { secondLevels[earlier] = count > 1 ? count - 1 : nil }
    }

    /// What the user is to be told: the aggregate, if it is not what was told last.
    mutating func news() -> RealMaxFrequency?? {
        let current = highest
        guard current != told else { return nil }
        told = current
        return .some(current)
    }

    private var highest: RealMaxFrequency? {
        var highest = firstLevel
        for frequency in secondLevels.keys { highest = Self.higher(highest, frequency) }
        return highest
    }

    private static func higher(_ left: RealMaxFrequency?, _ right: RealMaxFrequency) -> RealMaxFrequency {
        switch (left, right) {
        case (nil, _): right
        case (.unlimited, _), (_, .unlimited): .unlimited
        case (.limited(let left), .limited(let right)): .limited(max(left, right))
        }
    }
}
