/// The frequency that the user asks for against the one that the server was asked for.
///
/// ```text
/// stable --(requested differs)--> changing --(accepted)--> compare again
///                                          --(refused)--> still the value sent? give up : compare again
/// ```
struct FrequencyNegotiation: Sendable {
    /// What the user's property says.
    private(set) var requested: RequestedMaxFrequency?
    /// What goes into an add: the property as it was at `subscribe`, or at the end of the last session.
    private(set) var current: RequestedMaxFrequency?
    /// The value of the last reconf written; nil: none since the last comparison.
    private var sent: RequestedMaxFrequency?

    /// A negotiation that begins with the property as it is.
    init(_ requested: RequestedMaxFrequency?) {
        self.requested = requested
        current = requested
    }

    /// Whether a reconf is called for: the values differ, and the new one can be asked for by a reconf.
    var differs: Bool {
        switch requested {
        case .limited, .unlimited: requested != current && current != .unfiltered
        case .unfiltered, nil: false
        }
    }

    /// The property was set.
    mutating func request(_ frequency: RequestedMaxFrequency?) { requested = frequency }

    /// Whether a reconf that was called for, but never written, is still called for.
    var isWorthSending: Bool { sent != nil || differs }

    /// A reconf is written: it carries the property's present value.
    mutating func reconfWritten() { sent = requested }

    /// The server accepted the reconf; true: another one is called for.
    mutating func reconfAccepted() -> Bool {
        current = sent
        sent = nil
        return differs
    }

    /// The server refused the reconf; true: the property has changed meanwhile, and another one is called for.
    mutating func reconfRefused() -> Bool {
        defer { sent = nil }
        return requested != sent && differs
    }

    /// The session ended: the property as it is goes into the next add.
    mutating func sessionEnded() {
        current = requested
        sent = nil
    }
}

/// The highest frequency in force on the two levels of a subscription.
///
/// It counts how many second-level subscriptions were told each frequency, so that one of thousands that goes away
/// does not make it look at all the others.
struct FrequencyAggregate: Sendable {
    private var firstLevel: RealMaxFrequency?
    private var secondLevels: [RealMaxFrequency: Int] = [:]
    private var told: RealMaxFrequency?

    /// The first level was told a frequency.
    mutating func firstLevelReceived(_ frequency: RealMaxFrequency) { firstLevel = frequency }

    /// A second-level subscription was told a frequency in place of an earlier one, or went away (nil).
    mutating func secondLevelReceived(_ frequency: RealMaxFrequency?, insteadOf earlier: RealMaxFrequency?) {
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
