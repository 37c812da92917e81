/// The frequency requested by the user compared with the one requested from the server.
///
/// ```text
/// stable --(requested differs)--> changing --(accepted)--> compare again
///                                          --(refused)--> still the value sent? give up : compare again
/// ```
struct FrequencyNegotiation: Sendable {
    /// The value of the user's property.
    private(set) var requested: RequestedMaxFrequency?
    /// The value for an add: the property at `subscribe`, or at the end of the last session.
    private(set) var current: RequestedMaxFrequency?
    /// The value of the last reconf written; nil: none since the last comparison.
    private var sent: RequestedMaxFrequency?

    /// A negotiation that starts with the present value of the property.
    init(_ requested: RequestedMaxFrequency?) {
        self.requested = requested
        current = requested
    }

    /// Whether a reconf is needed: the values differ, and a reconf can carry the new one.
    var differs: Bool {
        switch requested {
        case .limited, .unlimited: requested != current && current != .unfiltered
        case .unfiltered, nil: false
        }
    }

    /// The property was set.
    mutating func request(_ frequency: RequestedMaxFrequency?) { requested = frequency }

    /// Whether a reconf that was due, but not written, is still needed.
    var isWorthSending: Bool { sent != nil || differs }

    /// A reconf is written: it carries the property's present value.
    mutating func reconfWritten() { sent = requested }

    /// The server accepted the reconf; true: another one is needed.
    mutating func reconfAccepted() -> Bool {
        current = sent
        sent = nil
        return differs
    }

    /// The server refused the reconf; true: the property has changed meanwhile, and another one is needed.
    mutating func reconfRefused() -> Bool {
        defer { sent = nil }
        return requested != sent && differs
    }

    /// The session ended: the next add carries the present value of the property.
    mutating func sessionEnded() {
        current = requested
        sent = nil
    }
}

/// The highest frequency in force on the two levels of a subscription.
///
/// It counts the second-level subscriptions by frequency, so that the end of one of thousands does not require a scan
/// of the others.
struct FrequencyAggregate: Sendable {
    private var firstLevel: RealMaxFrequency?
    private var secondLevels: [RealMaxFrequency: Int] = [:]
    private var notified: RealMaxFrequency?

    /// `CONF` of the first level.
    mutating func firstLevelReceived(_ frequency: RealMaxFrequency) { firstLevel = frequency }

    /// `CONF` of a second-level subscription that replaces an earlier frequency, or its end (nil).
    mutating func secondLevelReceived(_ frequency: RealMaxFrequency?, insteadOf earlier: RealMaxFrequency?) {
        if let frequency { secondLevels[frequency, default: 0] += 1 }
        if let earlier, let count = secondLevels[earlier] { secondLevels[earlier] = count > 1 ? count - 1 : nil }
    }

    /// The aggregate, if it differs from the one notified last.
    mutating func news() -> RealMaxFrequency?? {
        let current = highest
        guard current != notified else { return nil }
        notified = current
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
